// Accepted request -> its result, so that a repeated request id gives the same turn. Written in two stages:
// `pending` before the message is stored, `consumed` by the turn that read it.
import { IdempotencyMismatch, UnreadableRecord } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { Table } from "../ports/table.ts";
import { canonical } from "./encoding.ts";
import { currentFormat, upcast } from "./formats.ts";
import { onceKey } from "./keys.ts";

export type Once = {
  bodyHash: string;
  /** What the first request was given or is to be given. */
  result: Json;
  /** consumed: the message is in a turn, it must not be stored again. */
  stage: "pending" | "consumed";
  /** Where it was consumed; absent when that is not known. */
  place?: { sessionId: string; turn: number };
};

export interface OnceRecords {
  /**
   * Claims `id` for this body, or answers the record of who claimed it first. Throws `IdempotencyMismatch` when that
   * was for another body. Kept for `keepMs`.
   */
  claim(tenant: string, id: string, bodyHash: string, result: Json): Promise<{ first: boolean; record: Once }>;
  get(tenant: string, id: string): Promise<Once | null>;
  /** Again is harmless; what is known of the place is kept. */
  consume(tenant: string, id: string, place?: { sessionId: string; turn: number }): Promise<void>;
  /** Replaces the result of the own claim (before anything was answered with it). */
  settle(tenant: string, id: string, result: Json): Promise<void>;
  /** Gives a claim up when what it stood for could not be started. */
  release(tenant: string, id: string): Promise<void>;
}

/** EventBridge repeats for 24 h; clients for less. */
export const keepOnceMs = 8 * 86_400_000;

export function createOnceRecords(table: Table, now: () => number): OnceRecords {
  async function get(tenant: string, id: string): Promise<Once | null> {
    const raw = await table.get(onceKey(tenant, id));
    if (!raw) return null;
    const item = upcast(raw, "idempotency record");
    if (typeof item.bodyHash !== "string" || typeof item.result !== "string") {
      throw new UnreadableRecord("idempotency record: hash or result is missing");
    }
    return {
      bodyHash: item.bodyHash,
      result: JSON.parse(item.result),
      stage: item.stage === "consumed" ? "consumed" : "pending",
      ...(typeof item.inSession === "string" && typeof item.turn === "number"
        ? { place: { sessionId: item.inSession, turn: item.turn } }
        : {}),
    };
  }
  return {
    get,
    async claim(tenant, id, bodyHash, result) {
      const item = {
        ...onceKey(tenant, id),
        format: currentFormat,
        bodyHash,
        result: canonical(result),
        stage: "pending",
        ttl: Math.ceil((now() + keepOnceMs) / 1000),
      };
      const put = await table.put(item, { absent: true });
      const record = await get(tenant, id);
      if (!record) return { first: put === "ok", record: { bodyHash, result, stage: "pending" } };
      if (record.bodyHash !== bodyHash) {
        throw new IdempotencyMismatch(
          "this Idempotency-Key was used for another request; use a new key for a new request",
        );
      }
      return { first: put === "ok", record };
    },
    async consume(tenant, id, place) {
      const stage = { stage: "consumed" };
      const set = place ? { ...stage, inSession: place.sessionId, turn: place.turn } : stage;
      await table.update(onceKey(tenant, id), { set });
    },
    async settle(tenant, id, result) {
      await table.update(onceKey(tenant, id), { set: { result: canonical(result) } });
    },
    async release(tenant, id) {
      await table.remove(onceKey(tenant, id), { stage: "pending" });
    },
  };
}
