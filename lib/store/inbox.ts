// Accepted messages that wait for their turn. Order is a number given at acceptance (never a time); emptied
// by identity, since a slower writer may add a lower number later.
import { StoreUnavailable, UnreadableRecord } from "../core/errors.ts";
import type { InboxMessage } from "../core/event.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Item, Table } from "../ports/table.ts";
import { canonical, decode, encode } from "./encoding.ts";
import { currentFormat, upcast } from "./formats.ts";
import { inboxPrefix, inboxSk, sessionBlobs, sessionPk } from "./keys.ts";

export interface Inbox {
  /**
   * Stores the message under the next number after everything waiting and after `consumedSeq`. Calling it again with the
   * same messageId while the message waits answers the number it has.
   */
  add(tenant: string, sessionId: string, message: Omit<InboxMessage, "seq">, consumedSeq: number): Promise<number>;
  /** The same, but only if nothing else waits: null otherwise, and when somebody is first to take the next number. */
  addAlone(
    tenant: string,
    sessionId: string,
    message: Omit<InboxMessage, "seq">,
    consumedSeq: number,
  ): Promise<number | null>;
  /** Waiting messages in order; with `mode` those of it among the first `limit`. */
  list(tenant: string, sessionId: string, options?: { limit?: number; mode?: "steer" }): Promise<InboxMessage[]>;
  /** Whether this very message waits under its number. */
  has(tenant: string, sessionId: string, message: { seq: number; messageId: string }): Promise<boolean>;
  /** What waits, in order, without reading it. */
  waiting(tenant: string, sessionId: string): Promise<{ seq: number; messageId: string }[]>;
  /** Removes by identity; removing twice is fine. */
  remove(tenant: string, sessionId: string, messages: { seq: number; messageId: string }[]): Promise<void>;
}

const maxAttempts = 50;

export function createInbox(table: Table, blobs: Blobs): Inbox {
  const itemsOf = (tenant: string, sessionId: string, limit?: number): Promise<Item[]> =>
    table.query({
      pk: sessionPk(tenant, sessionId),
      prefix: inboxPrefix,
      ...(limit === undefined ? {} : { limit }),
    });

  async function itemOf(tenant: string, sessionId: string, message: Omit<InboxMessage, "seq">): Promise<Item> {
    return {
      pk: sessionPk(tenant, sessionId),
      sk: "",
      format: currentFormat,
      messageId: message.messageId,
      ...(message.mode ? { mode: message.mode } : {}),
      ...(await encode("message", canonical(message), sessionBlobs(tenant, sessionId), blobs)),
    };
  }

  return {
    async add(tenant, sessionId, message, consumedSeq) {
      const item = await itemOf(tenant, sessionId, message);
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const waiting = await itemsOf(tenant, sessionId);
        const same = waiting.find((other) => other.messageId === message.messageId);
        if (same) return seqOf(same.sk);
        const last = waiting.at(-1);
        const seq = Math.max(consumedSeq, last ? seqOf(last.sk) : 0) + 1;
        if ((await table.put({ ...item, sk: inboxSk(seq) }, { absent: true })) === "ok") return seq;
      }
      throw new StoreUnavailable("the inbox of the session is very busy; send the message again");
    },
    async addAlone(tenant, sessionId, message, consumedSeq) {
      const [first, ...others] = await itemsOf(tenant, sessionId, 2);
      if (first?.messageId === message.messageId && others.length === 0) return seqOf(first.sk);
      if (first) return null;
      const seq = consumedSeq + 1;
      const item = await itemOf(tenant, sessionId, message);
      return (await table.put({ ...item, sk: inboxSk(seq) }, { absent: true })) === "ok" ? seq : null;
    },
    async has(tenant, sessionId, { seq, messageId }) {
      const item = await table.get({ pk: sessionPk(tenant, sessionId), sk: inboxSk(seq) });
      return item?.messageId === messageId;
    },
    async waiting(tenant, sessionId) {
      const items = await itemsOf(tenant, sessionId);
      return items.map((item) => ({ seq: seqOf(item.sk), messageId: String(item.messageId) }));
    },
    async list(tenant, sessionId, { limit, mode } = {}) {
      const all = await itemsOf(tenant, sessionId, limit);
      const items = mode ? all.filter((item) => item.mode === mode) : all;
      return Promise.all(
        items.map(async (raw) => {
          const where = `${sessionId}/${raw.sk}`;
          const item = upcast(raw, where);
          const message = (await decode(
            item,
            "message",
            sessionBlobs(tenant, sessionId),
            blobs,
            where,
          )) as unknown as InboxMessage;
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
