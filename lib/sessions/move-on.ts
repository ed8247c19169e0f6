// A session that takes no more turns, with messages that wait in it: they go on in a fresh one.
import type { FreshReason } from "../core/event.ts";
import type { Deps } from "../steps/deps.ts";
import type { Head } from "../store/log.ts";
import { closeSession } from "./close-session.ts";
import { openSuccessor } from "./open-successor.ts";

/**
 * Closes a suspended session (or takes up a closing that was cut off) and answers the session after it. Null: somebody
 * else wrote meanwhile, look again.
 */
export async function goOnWaiting(
  deps: Deps,
  head: Head,
  by: { user?: string; userAt?: number } = {},
): Promise<Head | null> {
  return freshSession(deps, head, "suspended", by);
}

/** The same for any reason. */
export async function freshSession(
  deps: Deps,
  head: Head,
  reason: FreshReason,
  by: { user?: string; userAt?: number } = {},
): Promise<Head | null> {
  const closed = await closeSession(deps, head, reason);
  return closed ? openSuccessor(deps, closed, by) : null;
}
