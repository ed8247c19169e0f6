// Answers on their way out (D#<turn> in the session's partition). Written before its turn starts, so that no way of
// ending a turn can forget it; whether there is an answer, and where it goes, is read from the log.
import { UnreadableRecord } from "../core/errors.ts";
import type { Item, Key, Table, Value } from "../ports/table.ts";
import { currentFormat, upcast } from "./formats.ts";
import { deliveryPrefix, deliverySk, sessionPk } from "./keys.ts";

export type Delivery = {
  turn: number;
  /** open: no attempt has succeeded; sent; failed: given up. */
  status: "open" | "sent" | "failed";
  /** Attempts that were begun. */
  attempts: number;
  /** Epoch milliseconds of the next look; absent when settled. */
  due?: number;
  /** Why the last attempt failed. */
  reason?: string;
  settledAt?: number;
};

export interface Deliveries {
  /** Expects the answer of a turn; again is harmless. `due`: when the sweeper looks, if nobody did. */
  expect(tenant: string, sessionId: string, turn: number, due: number): Promise<void>;
  get(tenant: string, sessionId: string, turn: number): Promise<Delivery | null>;
  /** Moves the next look of an open delivery. */
  lookAgain(tenant: string, sessionId: string, turn: number, due: number): Promise<void>;
  /** Begins attempt `attempts + 1`; "refused": somebody else did, or it is settled. `due`: when another may try. */
  claim(tenant: string, sessionId: string, from: Delivery, due: number): Promise<Delivery | "refused">;
  /** After an attempt: `sent`, `failed`, or still `open` with its reason. A sent one stays sent. */
  mark(
    tenant: string,
    sessionId: string,
    turn: number,
    result: { status: "sent" | "failed" | "open"; reason?: string; at: number },
  ): Promise<void>;
  /** There is nothing to deliver. */
  remove(tenant: string, sessionId: string, turn: number): Promise<void>;
}

/** How long a settled one can be looked up. */
const keepMs = 90 * 86_400_000;

export function createDeliveries(table: Table): Deliveries {
  const keyOf = (tenant: string, sessionId: string, turn: number): Key => ({
    pk: sessionPk(tenant, sessionId),
    sk: deliverySk(turn),
  });
  return {
    async expect(tenant, sessionId, turn, due) {
      const item = { ...keyOf(tenant, sessionId, turn), format: currentFormat, status: "open", attempts: 0, due };
      await table.put(item, { absent: true });
    },
    async get(tenant, sessionId, turn) {
      const item = await table.get(keyOf(tenant, sessionId, turn));
      return item ? read(item) : null;
    },
    async lookAgain(tenant, sessionId, turn, due) {
      await table.update(keyOf(tenant, sessionId, turn), { set: { due } }, { status: "open" });
    },
    async claim(tenant, sessionId, from, due) {
      const key = keyOf(tenant, sessionId, from.turn);
      const change = { set: { attempts: from.attempts + 1, due } };
      const after = await table.update(key, change, { status: "open", attempts: from.attempts });
      return after === "refused" ? "refused" : read(after);
    },
    async mark(tenant, sessionId, turn, { status, reason, at }) {
      const key = keyOf(tenant, sessionId, turn);
      const said: Record<string, Value> = reason === undefined ? {} : { reason };
      if (status === "open") {
        await table.update(key, { set: said }, { status });
        return;
      }
      const set = { status, settledAt: at, ttl: Math.ceil((at + keepMs) / 1000), ...said };
      // A slow attempt that arrived after all counts, also after another was given up.
      const from = status === "sent" ? ["open", "failed"] : ["open"];
      for (const before of from) {
        if ((await table.update(key, { set, remove: ["due"] }, { status: before })) !== "refused") return;
      }
    },
    async remove(tenant, sessionId, turn) {
      await table.remove(keyOf(tenant, sessionId, turn));
    },
  };
}

/** The turn of a delivery's sort key. */
export function deliveryTurn(sk: string): number {
  return Number(sk.slice(deliveryPrefix.length));
}

function read(raw: Item): Delivery {
  const where = `${raw.pk}/${raw.sk}`;
  const item = upcast(raw, where);
  const { status, attempts, due, reason, settledAt } = item;
  if ((status !== "open" && status !== "sent" && status !== "failed") || typeof attempts !== "number") {
    throw new UnreadableRecord(`${where}: status or attempts is missing`);
  }
  return {
    turn: deliveryTurn(item.sk),
    status,
    attempts,
    ...(due === undefined ? {} : { due }),
    ...(typeof reason === "string" ? { reason } : {}),
    ...(typeof settledAt === "number" ? { settledAt } : {}),
  };
}
