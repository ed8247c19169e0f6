// An execution for the next turn of an idle session.
import type { Deps } from "../steps/deps.ts";
import { nameExecution } from "../steps/run.ts";
import type { Head } from "../store/log.ts";

/** Until the sweeper looks after a session whose execution was never seen to start. */
const startGraceMs = 60_000;

/** Again for the same turn is a no-op, unless `salt` sets it apart. Throws `OrchestratorUnavailable`; the sweeper then comes. */
export async function startNext(deps: Deps, head: Head, salt?: string): Promise<void> {
  const { tenant, sessionId } = head;
  const turn = head.state.turns + 1;
  const now = deps.clock.now();
  await deps.store.statuses.write(head.state, head.version, now, now + startGraceMs);
  const name = nameExecution({ tenant, sessionId, turn, segment: 0, ...(salt ? { salt } : {}) });
  await deps.orchestrator.start(name, { tenant, sessionId, turn, segment: 0, cause: "" });
}
