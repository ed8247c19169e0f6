// begin: the first step of every execution. Starts the next turn, goes on with a handed-over one, or takes
// a turn over from an execution that is gone.
import { countsAsRecovery } from "../core/apply/life-cycle.ts";
import type { Event, ResumeCause } from "../core/event.ts";
import { maxRecoveries } from "../core/limits.ts";
import type { Head } from "../store/log.ts";
import type { Deps } from "./deps.ts";
import type { StepInput, StepOutput } from "./io.ts";
import type { OpenState } from "./run.ts";
import { decideOwn, startRun } from "./run.ts";
import { projectOpenTurn, startTurn } from "./start-turn.ts";
import { readTakeOver } from "./take-over.ts";

/** Input `cause` of the next segment's execution. */
export const handOverCause = "hand-over";

/** Causes after which nothing of the predecessor can be alive: its leases are void. */
const deadCauses: readonly string[] = ["crash", "crash_elsewhere", "shutdown"] satisfies ResumeCause[];

export async function begin(deps: Deps, input: StepInput): Promise<StepOutput> {
  const run = startRun(deps, input, "begin");
  let head = await run.head();
  if (head.state.turn && head.state.turn.owner !== input.execution) {
    head = await run.commit((current) => takeOver(current, input), head);
    // Given up: it is taken over once more, to be ended.
    if (head.state.turn?.stop) head = await run.commit((current) => takeOver(current, input), head);
    if (head.state.turn?.owner === input.execution) await projectOpenTurn(deps, head);
  }
  if (!head.state.turn) head = await startTurn(run, head);
  return run.output(head, decideOwn(deps, head, input));
}

/** The event by which this execution becomes the owner; null when it must not. */
function takeOver(head: Head, input: StepInput): Event | null {
  const { turn } = head.state;
  if (!turn || turn.owner === input.execution || !input.cause) return null;
  if (input.cause === handOverCause) {
    const next = input.turn === turn.turn && input.segment === turn.segment + 1;
    return next ? { type: "turn.continued", segment: input.segment, owner: input.execution } : null;
  }
  const { cause, owner } = readTakeOver(input.cause);
  // Another execution that was started for the same reason was first.
  if (owner !== undefined && owner !== turn.owner) return null;
  if (countsAsRecovery(cause) && head.state.recoveries >= maxRecoveries && !turn.stop) {
    return giveUp(head.state as OpenState);
  }
  return { type: "session.resumed", cause, owner: input.execution, voidLeases: deadCauses.includes(cause) };
}

/** The same step failed too often: the turn ends, the session is suspended, other sessions are untouched. */
function giveUp(state: OpenState): Event {
  const open = state.turn.calls.filter((call) => call.status !== "finished").map((call) => call.tool);
  const where = open.length > 0 ? `while running ${open.join(", ")}` : "while waiting for the model";
  return {
    type: "stop.requested",
    by: "runtime",
    reason: `gave up after ${maxRecoveries} recoveries ${where}`,
    thenSuspend: true,
  };
}
