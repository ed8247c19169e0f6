// The waiting messages of a closed session move to the one after it, in order. Several may move at once: the record of
// the request (made here for messages that have none) keeps a message from being read twice.
import type { InboxMessage } from "../core/event.ts";
import type { Deps } from "../steps/deps.ts";
import { unread } from "../steps/unread.ts";
import { sha256 } from "../store/encoding.ts";
import type { Head } from "../store/log.ts";

/** Call it only for a session that is closed: then nothing in its inbox can become a turn there. */
export async function moveInbox(deps: Pick<Deps, "store">, closed: Head, successor: string): Promise<void> {
  const { tenant, sessionId } = closed;
  const { inbox, log } = deps.store;
  const messages = await unread(deps, closed);
  if (messages.length === 0) return;
  const target = await log.head(tenant, successor);
  for (const message of messages) {
    const { seq: _seq, ...kept } = message;
    const once = await claimed(deps, tenant, message);
    // Added before it is removed: at every instant it waits somewhere.
    if (once !== null) await inbox.add(tenant, successor, { ...kept, once }, target?.state.marks.inboxSeq ?? 0);
    await inbox.remove(tenant, sessionId, [message]);
  }
}

/** The id of the message's record; null when another mover was faster and it is in a turn already. */
async function claimed(deps: Pick<Deps, "store">, tenant: string, message: InboxMessage): Promise<string | null> {
  if (message.once) return message.once;
  const id = `moved:${message.messageId}`;
  const { record } = await deps.store.once.claim(tenant, id, sha256(message.messageId), {
    messageId: message.messageId,
  });
  return record.stage === "consumed" ? null : id;
}
