// Messages of the inbox that are in no turn yet. A crash may leave some behind that are in one already: the log and
// the record of the request say so, and they are cleared away before anything further is put into a turn.
import type { InboxMessage } from "../core/event.ts";
import type { Head } from "../store/log.ts";
import type { Deps } from "./deps.ts";

/** In order; `limit` bounds what is looked at at a time, so the answer is empty only when nothing waits. */
export async function unread(
  deps: Pick<Deps, "store">,
  head: Head,
  options: { limit?: number; mode?: "steer" } = {},
): Promise<InboxMessage[]> {
  const { inbox, once } = deps.store;
  for (;;) {
    const waiting = await inbox.list(head.tenant, head.sessionId, options);
    if (waiting.length === 0) return [];
    const inTurn = await lastConsumed(deps, head);
    const fresh: InboxMessage[] = [];
    const stale: InboxMessage[] = [];
    for (const message of waiting) {
      const known = message.once ? await once.get(head.tenant, message.once) : null;
      const read = inTurn.has(message.messageId) || known?.stage === "consumed";
      (read ? stale : fresh).push(message);
    }
    await consumed(deps, head, stale);
    if (fresh.length > 0 || options.limit === undefined || waiting.length < options.limit) return fresh;
  }
}

/** Ids of the messages that the latest event to take any took. */
export async function lastConsumed(deps: Pick<Deps, "store">, head: Head): Promise<ReadonlySet<string>> {
  const { inbox } = head.state.marks;
  const last = inbox ? await deps.store.log.at(head.tenant, head.sessionId, inbox) : null;
  const messages = last && "messages" in last.event ? last.event.messages : [];
  return new Set(messages.map((message) => message.messageId));
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
