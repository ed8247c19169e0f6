// Control actions: each is an appended checkpoint, ordered with the steps, and works while the agent is
// stuck. Whoever runs the turn sees it at the next step boundary.
import { ImpossibleTransition, NotFound, VersionConflict } from "../core/errors.ts";
import type { Event } from "../core/event.ts";
import type { Deps } from "../steps/deps.ts";
import { createWriter } from "../steps/run.ts";
import type { Head } from "../store/log.ts";
import { cancelSessionApprovals } from "./approvals/cancel-approvals.ts";
import { wakeStopped } from "./recovery.ts";
import { requireVersion } from "./require-version.ts";
import { pointerExpiry, rulesOf } from "./session-rules.ts";

export type SessionAddress = { tenant: string; sessionId: string; user: string };

export type ControlOptions = {
  /** Only when the session is at this version; else `StaleVersion`. */
  ifVersion?: number;
  /** Set when the request may come again: then nothing is appended if this writer has written after `since`. */
  as?: { writer: string; since: number };
};

/** Ends live work at the next step boundary and suspends the session: the next message starts a clean one. */
export async function stopSession(
  deps: Deps,
  at: SessionAddress,
  options: ControlOptions & { reason?: string } = {},
): Promise<Head> {
  const reason = options.reason ?? `by ${at.user}`;
  const waiting = await deps.store.inbox.waiting(at.tenant, at.sessionId);
  const after = await control(deps, at, options, ({ state }): Event | null => {
    if (state.lifecycle.kind === "closed") throw new ImpossibleTransition("the session is closed already");
    if (state.lifecycle.kind === "suspended" || state.turn?.stop?.thenSuspend) return null;
    // What waits now was written before the stop: it waits on, until somebody writes or resumes.
    const heldSeq = Math.max(state.marks.inboxSeq, ...waiting.map(({ seq }) => seq));
    return state.turn
      ? { type: "stop.requested", reason, by: at.user, thenSuspend: true, heldSeq }
      : { type: "session.suspended", cause: `stopped: ${reason}`, heldSeq };
  });
  await cancelSessionApprovals(deps, at, `stopped: ${reason}`);
  await wakeStopped(deps, after);
  return after;
}

const maxRaces = 200;

/** Appends what `decide` answers for the latest version, again after every lost race; null = nothing to do. */
export async function control(
  deps: Deps,
  at: SessionAddress,
  options: ControlOptions,
  decide: (head: Head) => Event | null | Promise<Event | null>,
): Promise<Head> {
  const { as } = options;
  const writer = createWriter(as?.writer ?? `control/${deps.ids.uuid()}`);
  for (let race = 0; race < maxRaces; race++) {
    const head = await deps.store.log.head(at.tenant, at.sessionId);
    if (!head) throw new NotFound("no such session");
    if (as && (await hasWritten(deps, head, as))) return head;
    requireVersion(head, options.ifVersion);
    const event = await decide(head);
    if (!event) return head;
    try {
      const after = await deps.store.log.append(head, event, writer);
      const now = deps.clock.now();
      await deps.store.statuses.write(after.state, after.version, now, now);
      return after;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
  throw new VersionConflict(`session ${at.sessionId}: lost the race for a version ${maxRaces} times`);
}

/** A person who goes on with a session is active in it, as with a message: it is not idle then. */
export async function touchSession(deps: Deps, { state, tenant, sessionId }: Head): Promise<void> {
  const pointer = await deps.store.pointers.get(tenant, state.key);
  if (pointer?.sessionId !== sessionId) return;
  const now = deps.clock.now();
  await deps.store.pointers.touch(tenant, state.key, sessionId, now, pointerExpiry(rulesOf(deps, state.agent), now));
}

async function hasWritten(deps: Deps, head: Head, as: { writer: string; since: number }): Promise<boolean> {
  if (head.version <= as.since) return false;
  const after = await deps.store.log.events(head.tenant, head.sessionId, as.since, head.version - as.since);
  return after.some(({ writer }) => writer.startsWith(`${as.writer}.`));
}
