// What follows the closing of a session: its approvals are taken back, its waiting messages move in order, the next
// session opens and gets the key. Every part may be repeated, by anybody, at any time: a crash in between only means
// that the next one who comes by (a message, the sweeper) finishes it.
import { ImpossibleTransition, VersionConflict } from "../core/errors.ts";
import type { Event, FreshReason } from "../core/event.ts";
import { carryOverFor } from "../core/resolve-session.ts";
import type { Deps } from "../steps/deps.ts";
import { createWriter } from "../steps/run.ts";
import type { Head } from "../store/log.ts";
import { cancelSessionApprovals } from "./approvals/cancel-approvals.ts";
import { carriedHandoff } from "./carry-over.ts";
import { moveInbox } from "./move-inbox.ts";
import { pointerExpiry, rulesOf } from "./session-rules.ts";

/** `userAt`: when a user's message caused it (epoch ms); without it nobody's activity is recorded. */
export async function openSuccessor(
  deps: Deps,
  closed: Head,
  by: { user?: string; userAt?: number } = {},
): Promise<Head> {
  const { lifecycle } = closed.state;
  if (lifecycle.kind !== "closed" || !lifecycle.successor) {
    throw new ImpossibleTransition(`session ${closed.sessionId} has no successor`);
  }
  await cancelSessionApprovals(deps, closed, `the session was closed (${lifecycle.reason})`);
  // Before anybody can find the new session, so that what waited stays in front of what comes.
  await moveInbox(deps, closed, lifecycle.successor);
  const next = await create(deps, closed, lifecycle.successor, by.user ?? closed.state.user);
  await takeKey(deps, closed, next, by.userAt);
  await project(deps, next);
  if (next.state.lifecycle.kind !== "closed") return next;
  // It was reset itself meanwhile: what has just been moved goes on to where the conversation is.
  return openSuccessor(deps, next, by);
}

async function create(deps: Deps, closed: Head, successor: string, user: string): Promise<Head> {
  const { tenant } = closed;
  const found = await deps.store.log.head(tenant, successor);
  if (found) return found;
  const { key, agent, lifecycle } = closed.state;
  const reason = (lifecycle.kind === "closed" ? lifecycle.reason : "requested") as FreshReason;
  const carried =
    carryOverFor(reason, rulesOf(deps, agent)) === "handoff" ? await carriedHandoff(deps, closed) : undefined;
  const event: Event = {
    type: "session.created",
    tenant,
    sessionId: successor,
    key,
    user,
    agent,
    reason,
    parent: { sessionId: closed.sessionId, version: closed.version },
    ...(carried ? { handoff: carried } : {}),
  };
  try {
    return await deps.store.log.append(null, event, createWriter(`successor/${deps.ids.uuid()}`));
  } catch (error) {
    const other = error instanceof VersionConflict ? await deps.store.log.head(tenant, successor) : null;
    if (!other) throw error;
    return other;
  }
}

/** Only from the closed session: a key that has gone on is left alone. */
async function takeKey(deps: Deps, closed: Head, next: Head, userAt: number | undefined): Promise<void> {
  const { tenant, sessionId } = closed;
  const { key, agent } = closed.state;
  const pointer = await deps.store.pointers.get(tenant, key);
  if (pointer?.sessionId !== sessionId) return;
  const expiresAt = pointerExpiry(rulesOf(deps, agent), deps.clock.now());
  await deps.store.pointers.swap(tenant, key, pointer, {
    sessionId: next.sessionId,
    lastUserAt: userAt ?? pointer.lastUserAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
}

/** What has moved is due at once, if nobody starts it. */
async function project(deps: Deps, next: Head): Promise<void> {
  if (next.state.turn || next.state.turns > 0) return;
  const now = deps.clock.now();
  await deps.store.statuses.write(next.state, next.version, now, now);
}
