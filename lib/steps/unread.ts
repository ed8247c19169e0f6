// Messages of the inbox that are in no turn yet. A crash may leave some behind that are in one already: the log and
// the record of the request say so, and they are cleared away before anything further is put into a turn.
import type { InboxMessage } from "../core/event.ts";
import type { Head } from "../store/log.ts";
import type { Deps } from "./deps.ts";

/**
 * In order; `limit` bounds what is looked at at a time, so without `mode` the answer is empty only when nothing waits.
 * When it is not empty, what the latest turn took is cleared away: the next event to take messages hides its traces.
 */
export async function unread(
  deps: Pick<Deps, "store">,
  head: Head,
  options: { limit?: number; mode?: "steer" } = {},
): Promise<InboxMessage[]> {
  const { inbox, once } = deps.store;
  for (;;) {
    const waiting = await inbox.list(head.tenant, head.sessionId, options);
    if (waiting.length === 0) return [];
    const taken = await lastTaken(deps, head);
    await clearAway(deps, head, taken);
    const ids = new Set(taken.map((message) => message.messageId));
    const fresh: InboxMessage[] = [];
    const stale: InboxMessage[] = [];
    for (const message of waiting) {
      if (ids.has(message.messageId)) continue;
      const known = message.once ? await once.get(head.tenant, message.once) : null;
      (known?.stage === "consumed" ? stale : fresh).push(message);
    }
    if (stale.length > 0) await inbox.remove(head.tenant, head.sessionId, stale);
    if (fresh.length > 0 || options.mode || options.limit === undefined || waiting.length < options.limit) return fresh;
  }
}

/** The messages that the latest event to take any took. */
export async function lastTaken(deps: Pick<Deps, "store">, head: Head): Promise<readonly InboxMessage[]> {
  const { inbox } = head.state.marks;
  const last = inbox ? await deps.store.log.at(head.tenant, head.sessionId, inbox) : null;
  return last && "messages" in last.event ? last.event.messages : [];
}

/** Their records first, as after the commit. */
async function clearAway(deps: Pick<Deps, "store">, head: Head, taken: readonly InboxMessage[]): Promise<void> {
  for (const message of taken) {
    const left = await deps.store.inbox.has(head.tenant, head.sessionId, message);
    if (left) await consumed(deps, head, [message]);
  }
}

/** After the commit that put messages into the session's latest turn: first the record of the request, then the inbox. */
export async function consumed(
  deps: Pick<Deps, "store">,
  head: Head,
  messages: readonly InboxMessage[],
): Promise<void> {
  const { tenant, sessionId } = head;
  const place = { sessionId, turn: head.state.turns };
  for (const message of messages) {
    if (message.once) await deps.store.once.consume(tenant, message.once, place);
  }
  if (messages.length > 0) await deps.store.inbox.remove(tenant, sessionId, [...messages]);
}
