// After a turn's end: the session's usage by day for GET /v1/usage. Sums from the snapshot, so it may be repeated by
// whoever finds a session without an open turn (the sweeper does, after a crash right after the end).
import { isDisposition } from "../../core/errors.ts";
import type { Head } from "../../store/log.ts";
import type { Deps } from "../deps.ts";

/** One read and one write for each day that the turn touched. A store that does not answer loses no turn: the next end repeats it. */
export async function countUsage(deps: Pick<Deps, "store" | "log">, head: Head): Promise<void> {
  try {
    await deps.store.usageDays.record(head.state, head.version);
  } catch (error) {
    if (!isDisposition(error, "Transient")) throw error;
    deps.log.warn("usage could not be counted yet", { tenant: head.tenant, sessionId: head.sessionId });
  }
}
