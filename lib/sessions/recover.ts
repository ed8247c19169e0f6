// What is to be done for a session whose execution ended badly: at once, outside of it, since the failures that
// matter (history limit, payload limit, abort, crash) cannot be caught inside.
import type { ResumeCause } from "../core/event.ts";
import type { Deps } from "../steps/deps.ts";
import { projectGoesOn } from "../steps/project/goes-on.ts";
import { type Swept, sweepSession } from "./sweep.ts";

export type EndStatus = "FAILED" | "TIMED_OUT" | "ABORTED";

export const causeOf: Record<EndStatus, ResumeCause> = {
  FAILED: "execution_failed",
  TIMED_OUT: "execution_timed_out",
  ABORTED: "execution_aborted",
};

export type Recovered =
  | Swept
  /** The execution owned nothing that is open: what there is to do is left to the sweeper. */
  | "left";

/** Until the sweeper looks at a session whose execution failed before it owned anything. */
const lookAgainMs = 30_000;

/**
 * Starts the execution that goes on with the turn that `execution` owned. `eventId` sets it apart: the same event again
 * starts nothing. One that never owned the turn has committed nothing, so it is not followed at once by another, which
 * would fail the same way without being counted.
 */
export async function recoverSession(
  deps: Deps,
  ended: { tenant: string; sessionId: string; execution: string; status: EndStatus; eventId: string },
): Promise<Recovered> {
  const { tenant, sessionId, execution, status, eventId } = ended;
  const head = await deps.store.log.head(tenant, sessionId);
  if (!head) return "gone";
  if (head.state.turn?.owner === execution) {
    return sweepSession(deps, { tenant, sessionId }, { cause: causeOf[status], slot: eventId });
  }
  const due = head.state.turn !== null || projectGoesOn(deps, head);
  const waiting = due || (await deps.store.inbox.list(tenant, sessionId, { limit: 1 })).length > 0;
  const now = deps.clock.now();
  if (waiting) await deps.store.statuses.write(head.state, head.version, now, now + lookAgainMs);
  return "left";
}
