// What an author's tests import: `import … from "baton/testing"`. Everything runs in the process, in memory, in no time.
// Begin with `runToEnd` (does my agent do what I want?) and `allCrashPoints` (whatever happens meanwhile?).

export type { ReplyLine, ScriptCall, ScriptLine } from "./demo-model/script-line.ts";
/** Does the agent come to the same end after a crash at any instant? */
export { allCrashPoints, type CrashReport } from "./testing/all-crash-points.ts";
/** One crash at one instant, the list of instants, and a run with a chosen schedule of crashes. */
export {
  type CrashOptions,
  type CrashPoint,
  crashAt,
  crashPoints,
  type Played,
  playThrough,
} from "./testing/crash-points.ts";
/** The embedded runtime itself, for tests that want to look between two steps. */
export { type Embedded, type EmbedOptions, embed } from "./testing/embed.ts";
/** Time that only tests move. */
export { type FakeClock, fakeClock } from "./testing/fake-clock.ts";
/** A table that loses answers, throttles, delays, lags or dies when told to; what it throws when it dies. */
export { Crash, createFaultyTable, type Fault, type FaultPlan, type FaultyTable } from "./testing/faulty-table.ts";
/** A model whose n-th line answers the n-th reply of a conversation, however often it is asked. */
export { replayModel } from "./testing/replay-model.ts";
/** A whole conversation in one call. */
export {
  type EndedCall,
  type EndedRun,
  type RunToEndOptions,
  runToEnd,
} from "./testing/run-to-end.ts";
/** A model whose n-th line answers the n-th request, faults included. */
export { type ScriptedModel, scriptedModel } from "./testing/scripted-model.ts";
/** Ids that repeat from run to run. */
export { seededIds } from "./testing/seeded-ids.ts";
/** What people decide in a test. */
export type { Decide, TestDecision } from "./testing/until-asking.ts";
/** Embeddings that are the same for the same words, for agents whose memory compares by meaning. */
export { wordEmbeddings } from "./testing/word-embeddings.ts";
