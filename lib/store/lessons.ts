// Turns from which long-term memory has still to learn (M#<turn> in the session's partition). Written before the turn
// starts, so that no way of ending it can forget it; gone when it is done. What was decided is written here before it is
// carried out, so that a repeat carries out the same and asks no model again.
import { UnreadableRecord } from "../core/errors.ts";
import type { EventOf } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { FactPlan } from "../core/memory/plan-facts.ts";
import { dayMs } from "../core/utc-day.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Item, Key, Table } from "../ports/table.ts";
import { canonical, decode, encode } from "./encoding.ts";
import { currentFormat, upcast } from "./formats.ts";
import { memoryPrefix, memorySk, sessionBlobs, sessionPk } from "./keys.ts";

export type Decided = Pick<FactPlan, "add" | "close"> & { event: EventOf<"memory.updated"> };

export type Lesson = {
  turn: number;
  /** Attempts that were begun and not given back. */
  attempts: number;
  /** Counts claims: only the latest one may decide. */
  claims: number;
  /** Epoch milliseconds of the next look; while an attempt runs, when another may begin. */
  due: number;
  decided?: Decided;
};

/** Whoever has not learnt by then never will. */
const keepMs = 30 * dayMs;

type Place = { tenant: string; sessionId: string; turn: number };

export interface Lessons {
  /** Expects a turn; again is harmless. `due`: when the sweeper looks, if nobody did. */
  expect(at: Place, due: number): Promise<void>;
  get(at: Place): Promise<Lesson | null>;
  /** Turns of a session that are not done, in order. */
  turns(tenant: string, sessionId: string): Promise<number[]>;
  /** Moves the next look; `attempts` gives one back that was none. */
  lookAgain(at: Place, from: Lesson, to: { due: number; attempts?: number }): Promise<void>;
  /** Begins an attempt; "refused": somebody else did. `due`: when another may. */
  claim(at: Place, from: Lesson, due: number): Promise<Lesson | "refused">;
  /** What will be carried out; "refused": another attempt has taken over, or the session was erased. */
  decide(at: Place, from: Lesson, decided: Decided): Promise<"ok" | "refused">;
  remove(at: Place): Promise<void>;
  /** Gives up all turns of a session, for good; false while an attempt may be running at `now`, which then goes on. */
  clear(tenant: string, sessionId: string, now: number): Promise<boolean>;
}

export function createLessons(table: Table, blobs: Blobs): Lessons {
  const keyOf = ({ tenant, sessionId, turn }: Place): Key => ({ pk: sessionPk(tenant, sessionId), sk: memorySk(turn) });
  const same = ({ claims }: Lesson) => ({ claims, format: currentFormat });

  async function read(raw: Item, { tenant, sessionId }: Place): Promise<Lesson> {
    const where = `${raw.pk}/${raw.sk}`;
    const item = upcast(raw, where);
    const { attempts, claims, due } = item;
    if (typeof attempts !== "number" || typeof claims !== "number" || typeof due !== "number") {
      throw new UnreadableRecord(`${where}: attempts, claims or due is missing`);
    }
    const scope = sessionBlobs(tenant, sessionId);
    const decided = item.decided === undefined ? undefined : await decode(item, "decided", scope, blobs, where);
    return {
      turn: lessonTurn(item.sk),
      attempts,
      claims,
      due,
      ...(decided === undefined ? {} : { decided: decided as Json as unknown as Decided }),
    };
  }

  return {
    async expect(at, due) {
      const ttl = Math.ceil((due + keepMs) / 1000);
      await table.put({ ...keyOf(at), format: currentFormat, attempts: 0, claims: 0, due, ttl }, { absent: true });
    },
    async get(at) {
      const item = await table.get(keyOf(at));
      return item ? read(item, at) : null;
    },
    async turns(tenant, sessionId) {
      const items = await table.query({ pk: sessionPk(tenant, sessionId), prefix: memoryPrefix });
      return items.map((item) => lessonTurn(item.sk));
    },
    async lookAgain(at, from, { due, attempts = from.attempts }) {
      await table.update(keyOf(at), { set: { due, attempts }, remove: ["busyUntil"] }, same(from));
    },
    async claim(at, from, due) {
      const set = { attempts: from.attempts + 1, claims: from.claims + 1, due, busyUntil: due };
      const after = await table.update(keyOf(at), { set }, same(from));
      return after === "refused" ? "refused" : read(after, at);
    },
    async decide(at, from, decided) {
      const text = canonical(decided);
      const set = await encode("decided", text, sessionBlobs(at.tenant, at.sessionId), blobs);
      const after = await table.update(keyOf(at), { set }, same(from));
      return after === "refused" ? "refused" : "ok";
    },
    async remove(at) {
      await table.remove(keyOf(at));
    },
    async clear(tenant, sessionId, now) {
      const items = await table.query({ pk: sessionPk(tenant, sessionId), prefix: memoryPrefix });
      for (const { pk, sk, claims, busyUntil } of items) {
        if (Number(busyUntil ?? 0) > now) return false;
        if ((await table.remove({ pk, sk }, { claims })) === "refused") return false;
      }
      return true;
    },
  };
}

/** The turn of a lesson's sort key. */
export function lessonTurn(sk: string): number {
  return Number(sk.slice(memoryPrefix.length));
}
