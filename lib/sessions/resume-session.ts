// Resume by a person: a suspended session takes turns again, an interrupted one goes on now instead of at the next
// sweep. What was held back by the stop runs too.
import { ImpossibleTransition } from "../core/errors.ts";
import type { Event } from "../core/event.ts";
import type { Deps } from "../steps/deps.ts";
import { projectGoesOn } from "../steps/project/goes-on.ts";
import type { Head } from "../store/log.ts";
import { type ControlOptions, control, type SessionAddress, touchSession } from "./control.ts";
import { startRecovery } from "./recovery.ts";
import { startNext } from "./start-next.ts";

/** Throws `ImpossibleTransition` when there is nothing to resume. */
export async function resumeSession(deps: Deps, at: SessionAddress, options: ControlOptions = {}): Promise<Head> {
  const after = await control(deps, at, options, async ({ state }): Promise<Event | null> => {
    if (state.lifecycle.kind === "closed") {
      throw new ImpossibleTransition(`the session is closed (${state.lifecycle.reason}); its successor has the key`);
    }
    if (state.lifecycle.kind === "suspended") {
      return { type: "session.resumed", cause: "requested", owner: "", voidLeases: false };
    }
    const stuck = state.turn !== null && !(await deps.orchestrator.isRunning(state.turn.owner));
    if (!state.resumePending && !stuck)
      throw new ImpossibleTransition("nothing to resume: the session is not interrupted");
    return null;
  });
  await touchSession(deps, after);
  if (after.state.turn) await startRecovery(deps, after, after.state.resumePending?.cause ?? "requested");
  else await startWaiting(deps, after);
  return (await deps.store.log.head(at.tenant, at.sessionId)) ?? after;
}

async function startWaiting(deps: Deps, head: Head): Promise<void> {
  const waiting = await deps.store.inbox.list(head.tenant, head.sessionId, { limit: 1 });
  if (waiting.length > 0 || projectGoesOn(deps, head)) await startNext(deps, head, `r${head.version}`);
}
