// Accepted messages that wait for their turn. Order is a number given at acceptance (never a time); emptied
// by identity, since a slower writer may add a lower number later.
import { StoreUnavailable, UnreadableRecord } from "../core/errors.ts";
import type { InboxMessage } from "../core/event.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Table } from "../ports/table.ts";
import { canonical, decode, encode } from "./encoding.ts";
import { currentFormat, upcast } from "./formats.ts";
import { inboxPrefix, inboxSk, sessionPk } from "./keys.ts";

export interface Inbox {
  /**
   * Stores the message under the next number after everything waiting and after `consumedSeq`. Calling it again with the
   * same messageId while the message waits answers the number it has.
   */
  add(tenant: string, sessionId: string, message: Omit<InboxMessage, "seq">, consumedSeq: number): Promise<number>;
  /** Waiting messages in order. */
  list(tenant: string, sessionId: string, limit?: number): Promise<InboxMessage[]>;
  /** Removes by identity; removing twice is fine. */
  remove(tenant: string, sessionId: string, messages: { seq: number; messageId: string }[]): Promise<void>;
}

const maxAttempts = 50;

export function createInbox(table: Table, blobs: Blobs): Inbox {
  return {
    async add(tenant, sessionId, message, consumedSeq) {
      const pk = sessionPk(tenant, sessionId);
      const body = await encode("message", canonical(message), tenant, blobs);
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const waiting = await table.query({ pk, prefix: inboxPrefix });
        const same = waiting.find((item) => item.messageId === message.messageId);
        if (same) return seqOf(same.sk);
        const last = waiting.at(-1);
        const seq = Math.max(consumedSeq, last ? seqOf(last.sk) : 0) + 1;
        const item = { pk, sk: inboxSk(seq), format: currentFormat, messageId: message.messageId, ...body };
        if ((await table.put(item, { absent: true })) === "ok") return seq;
      }
      throw new StoreUnavailable("the inbox of the session is very busy; send the message again");
    },
    async list(tenant, sessionId, limit) {
      const pk = sessionPk(tenant, sessionId);
      const items = await table.query({ pk, prefix: inboxPrefix, ...(limit === undefined ? {} : { limit }) });
      return Promise.all(
        items.map(async (raw) => {
          const where = `${sessionId}/${raw.sk}`;
          const item = upcast(raw, where);
          const message = (await decode(item, "message", tenant, blobs, where)) as unknown as InboxMessage;
          if (!Array.isArray(message.content)) throw new UnreadableRecord(`${where}.message: no content`);
          return { ...message, seq: seqOf(item.sk) };
        }),
      );
    },
    async remove(tenant, sessionId, messages) {
      const pk = sessionPk(tenant, sessionId);
      await Promise.all(messages.map(({ seq, messageId }) => table.remove({ pk, sk: inboxSk(seq) }, { messageId })));
    },
  };
}

const seqOf = (sk: string): number => Number(sk.slice(inboxPrefix.length));
