// fail: a step ended with an error. What happens next depends on the kind of the error, read from its
// literal name: a passing fault leaves the turn open for recovery, a final one ends it with its reason.
import { CallInProgress, dispositionOf, type ErrorRecord, errorTable } from "../core/errors.ts";
import type { Event } from "../core/event.ts";
import { renderStanding } from "../core/project/render-turn.ts";
import { countUsage } from "./budget/count-usage.ts";
import { changedAgent } from "./changed-agent.ts";
import { answered, deliverOf } from "./deliver-of.ts";
import type { Deps } from "./deps.ts";
import type { StepInput, StepOutput } from "./io.ts";
import { decideOwn, doneOutput, startRun } from "./run.ts";
import { startTurn } from "./start-turn.ts";

/** A passing fault is looked at again this much later, by the sweeper. */
const retryLaterMs = 30_000;

/** After these the log itself is in doubt: the session is suspended, readable, and nothing is written over. */
const suspending = ["UnreadableRecord", "UnknownFormat"];

export async function fail(deps: Deps, input: StepInput): Promise<StepOutput> {
  const run = startRun(deps, input, "fail");
  const name = input.error ?? "Unknown";
  const head = await run.head();
  const { turn } = head.state;
  if (turn?.owner !== input.execution) return doneOutput(input);
  const disposition = dispositionOf(name);
  if (disposition === "Transient" || disposition === "Conflict") {
    // Somebody else holds a call of the turn: to have waited for that in vain is no fault of this session.
    const cause = name === CallInProgress.kind.name ? "due" : "execution_failed";
    const marked = await run.commitOwned((): Event => ({ type: "session.resume_marked", cause }), head);
    const now = deps.clock.now();
    await deps.store.statuses.write(marked.state, marked.version, now, now + retryLaterMs);
    return doneOutput(input);
  }
  const changed = name === "AgentChanged" ? await changedAgent(deps, head) : null;
  const error = changed ? { ...recordOf(name), message: changed } : recordOf(name);
  deps.log.error("turn failed", { tenant: input.tenant, sessionId: input.sessionId, turn: turn.turn, error: name });
  const deliver = await deliverOf(deps, head, "error");
  const standing = turn.project ? `\n\n${renderStanding(head.state.project, turn.project, "error")}` : "";
  let ended = await run.commitOwned(
    (current): Event => ({
      type: "turn.failed",
      turn: current.state.turn.turn,
      endReason: "error",
      error,
      answer: `The turn failed: ${error.message}. Its steps are kept; write again to go on from there.${standing}`,
      ...deliver,
    }),
    head,
  );
  await countUsage(deps, ended);
  if (deliver.deliver !== undefined) await answered(deps, { ...input, turn: turn.turn });
  if (suspending.includes(name)) {
    ended = await run.commit((): Event => ({ type: "session.suspended", cause: `${name}: ${error.message}` }), ended);
  }
  // Without its agent the session cannot go on; what waits in the inbox stays there.
  if (!deps.agents.has(ended.state.agent)) return doneOutput(input);
  const next = await startTurn(run, ended);
  return run.output(next, decideOwn(deps, next, input));
}

/** Only the name crosses the state machine, so that no content does; the rest is looked up. */
function recordOf(name: string): ErrorRecord {
  const known = errorTable.get(name);
  if (known) return { name, code: known.code, message: `${name} (${known.code})` };
  if (name === "States.Timeout" || name === "Sandbox.Timedout")
    return { name, code: "step.timed_out", message: "a step needed longer than its time-out, twice" };
  if (name === "Runtime.ExitError") return { name, code: "step.died", message: "the process of a step died, twice" };
  return { name, code: "unexpected", message: `unexpected error ${name}` };
}
