// Control actions: each is an appended checkpoint, ordered with the steps, and works while the agent is
// stuck. Whoever runs the turn sees it at the next step boundary.
import { ImpossibleTransition, NotFound, StaleVersion, VersionConflict } from "../core/errors.ts";
import type { Event } from "../core/event.ts";
import type { Deps } from "../steps/deps.ts";
import { createWriter } from "../steps/run.ts";
import type { Head } from "../store/log.ts";
import { cancelSessionApprovals } from "./approvals/cancel-approvals.ts";

export type SessionAddress = { tenant: string; sessionId: string; user: string };

/** Ends live work at the next step boundary and suspends the session: the next message starts a clean one. */
export async function stopSession(
  deps: Deps,
  at: SessionAddress,
  options: { reason?: string; ifVersion?: number } = {},
): Promise<Head> {
  const reason = options.reason ?? `by ${at.user}`;
  const after = await control(deps, at, options.ifVersion, ({ state }): Event | null => {
    if (state.lifecycle.kind === "closed") throw new ImpossibleTransition("the session is closed already");
    if (state.lifecycle.kind === "suspended" || state.turn?.stop) return null;
    return state.turn
      ? { type: "stop.requested", reason, by: at.user, thenSuspend: true }
      : { type: "session.suspended", cause: `stopped: ${reason}` };
  });
  await cancelSessionApprovals(deps, at, `stopped: ${reason}`);
  return after;
}

const maxRaces = 200;

/** Appends what `decide` answers for the latest version; null = nothing to do. */
export async function control(
  deps: Deps,
  at: SessionAddress,
  ifVersion: number | undefined,
  decide: (head: Head) => Event | null,
): Promise<Head> {
  const writer = createWriter(`control/${deps.ids.uuid()}`);
  for (let race = 0; race < maxRaces; race++) {
    const head = await deps.store.log.head(at.tenant, at.sessionId);
    if (!head) throw new NotFound("no such session");
    if (ifVersion !== undefined && head.version !== ifVersion) {
      throw new StaleVersion(`the session is at version ${head.version}, not ${ifVersion}; read it again`);
    }
    const event = decide(head);
    if (!event) return head;
    try {
      const after = await deps.store.log.append(head, event, writer);
      await deps.store.statuses.write(
        after.state,
        after.version,
        deps.clock.now(),
        after.state.turn ? deps.clock.now() : undefined,
      );
      return after;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
  throw new VersionConflict(`session ${at.sessionId}: lost the race for a version ${maxRaces} times`);
}
