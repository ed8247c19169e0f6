// Closing a session: its last checkpoint, with the true reason and the id of the one that takes over. The append is the
// lock: of many who want to reset, one closes, and all find the same successor.
import { VersionConflict } from "../core/errors.ts";
import type { Event, FreshReason } from "../core/event.ts";
import { sessionId as makeSessionId } from "../core/ids.ts";
import { deliverOf } from "../steps/deliver-of.ts";
import type { Deps } from "../steps/deps.ts";
import { createWriter } from "../steps/run.ts";
import type { Head } from "../store/log.ts";

/** When the sweeper finishes a hand-over that a crash has cut off. */
const sweepAfterMs = 60_000;

/**
 * Closes the session as it stands at `head`, its open turn with it; nothing comes between the two. Null: somebody
 * else has written since, so look again. A session that is closed already is answered as it is.
 */
export async function closeSession(deps: Deps, head: Head, reason: FreshReason): Promise<Head | null> {
  const { lifecycle } = head.state;
  if (lifecycle.kind === "closed" && !lifecycle.unsaid) return head;
  const now = deps.clock.now();
  await deps.store.statuses.write(head.state, head.version, now, now + sweepAfterMs);
  const writer = createWriter(`close/${deps.ids.uuid()}`);
  const successor = makeSessionId(new Date(now).toISOString(), deps.ids.suffix());
  try {
    const ended = head.state.turn
      ? await deps.store.log.append(head, await endOfTurn(deps, head, { reason, successor }), writer)
      : head;
    const closed = await deps.store.log.append(ended, closing(ended, { reason, successor }), writer);
    await deps.store.statuses.write(closed.state, closed.version, now, now + sweepAfterMs);
    return closed;
  } catch (error) {
    if (error instanceof VersionConflict) return null;
    throw error;
  }
}

/** A turn that ended with its session has named the successor already. */
function closing({ state }: Head, fresh: { reason: FreshReason; successor: string }): Event {
  const { lifecycle } = state;
  if (lifecycle.kind !== "closed") return { type: "session.closed", ...fresh };
  return {
    type: "session.closed",
    reason: lifecycle.reason as FreshReason,
    ...(lifecycle.successor === undefined ? {} : { successor: lifecycle.successor }),
  };
}

async function endOfTurn(deps: Deps, head: Head, closes: { reason: FreshReason; successor: string }): Promise<Event> {
  const why =
    closes.reason === "maxDefer" ? "the turn was open for too long" : `the session was reset (${closes.reason})`;
  return {
    type: "turn.failed",
    turn: head.state.turn?.turn ?? head.state.turns,
    endReason: "reset",
    error: { name: "SessionReset", code: "session.reset", message: why },
    answer: `This turn did not end: ${why}.`,
    ...(await deliverOf(deps, head, "reset")),
    closes,
  };
}
