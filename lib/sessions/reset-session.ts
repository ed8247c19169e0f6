// A reset that a person asks for (reason `requested`): the session closes, its open turn with it, and the key goes to a
// clean one. Works while the agent runs, while it is stuck, and when the session is suspended.
import { ImpossibleTransition, VersionConflict } from "../core/errors.ts";
import type { Deps } from "../steps/deps.ts";
import type { Head } from "../store/log.ts";
import type { SessionAddress } from "./control.ts";
import { freshSession } from "./move-on.ts";
import { requireVersion } from "./require-version.ts";
import { sessionHead } from "./session-head.ts";
import { startNext } from "./start-next.ts";

const maxRaces = 200;

/**
 * Answers the new session. `again`: a session that is closed already is no mistake but this very request, which came
 * before; its successor is answered.
 */
export async function resetSession(
  deps: Deps,
  at: SessionAddress,
  options: { ifVersion?: number; again?: boolean } = {},
): Promise<Head> {
  for (let race = 0; race < maxRaces; race++) {
    const head = await sessionHead(deps, at.tenant, at.sessionId);
    const { lifecycle } = head.state;
    if (lifecycle.kind === "closed" && !lifecycle.unsaid && !options.again) {
      throw new ImpossibleTransition(`the session is closed already (${lifecycle.reason})`);
    }
    if (lifecycle.kind !== "closed") requireVersion(head, options.ifVersion);
    const next = await freshSession(deps, head, "requested", { user: at.user, userAt: deps.clock.now() });
    if (!next) continue;
    const waiting = await deps.store.inbox.list(next.tenant, next.sessionId, { limit: 1 });
    if (waiting.length > 0 && !next.state.turn && next.state.lifecycle.kind === "open") await startNext(deps, next);
    return next;
  }
  throw new VersionConflict(`session ${at.sessionId}: lost the race for a version ${maxRaces} times`);
}
