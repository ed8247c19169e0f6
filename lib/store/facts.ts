// Long-term memory (F#<factId> in the partition of one tenant's user): who else looks there has another key. Deleting is
// real: the item goes, and only its id stays for a while, so that work under way cannot bring it back.
import { UnreadableRecord } from "../core/errors.ts";
import { type Fact, type FactVector, factKinds } from "../core/memory.ts";
import { dayMs } from "../core/utc-day.ts";
import type { Clock } from "../ports/clock.ts";
import type { Item, Table, Value } from "../ports/table.ts";
import { currentFormat, upcast } from "./formats.ts";
import { factKey, factPrefix, factsPk, forgottenKey } from "./keys.ts";

/** Whose memory: the scope is the key. */
export type FactScope = { tenant: string; user: string };

export interface Facts {
  /** All of one user, also those that have ended, in any order. */
  list(scope: FactScope): Promise<Fact[]>;
  get(scope: FactScope, id: string): Promise<Fact | null>;
  /** Writes a new fact, stored now. Again is harmless; "deleted": the user has deleted it since, and it stays so. */
  add(scope: FactScope, fact: Fact): Promise<"added" | "there" | "deleted">;
  /** Ends a fact if it holds and its text is the one of `revision`; else nothing happens. */
  close(scope: FactScope, end: { id: string; revision: number; validTo: number; replacedBy?: string }): Promise<void>;
  /** Keeps the direction of its text, if that is still the one of `revision`; else nothing happens. */
  keepVector(scope: FactScope, kept: { id: string; revision: number; vector: FactVector }): Promise<void>;
  /** The user's own wording instead, whose direction nobody knows; null when there is no such fact, or another correction came between. */
  correct(scope: FactScope, id: string, text: string): Promise<Fact | null>;
  /** False when there was none. */
  remove(scope: FactScope, id: string): Promise<boolean>;
}

/** How long a fact that has ended can be looked up. */
const keepClosedMs = 365 * dayMs;
/** Longer than any work on a turn is repeated. */
const keepForgottenMs = 30 * dayMs;

export function createFacts(table: Table, clock: Clock): Facts {
  const get = async ({ tenant, user }: FactScope, id: string): Promise<Fact | null> => {
    const item = await table.get(factKey(tenant, user, id));
    return item ? read(item) : null;
  };
  const isForgotten = async ({ tenant, user }: FactScope, id: string) =>
    (await table.get(forgottenKey(tenant, user, id))) !== null;

  return {
    get,
    async list({ tenant, user }) {
      const items = await table.query({ pk: factsPk(tenant, user), prefix: factPrefix });
      return items.map(read);
    },
    async add(scope, fact) {
      const key = factKey(scope.tenant, scope.user, fact.id);
      if (await isForgotten(scope, fact.id)) {
        await table.remove(key);
        return "deleted";
      }
      const written = await table.put({ ...key, ...write({ ...fact, storedAt: clock.now() }) }, { absent: true });
      // The mark of a deletion is written before the item goes: looking again finds one that came between.
      if (await isForgotten(scope, fact.id)) {
        await table.remove(key);
        return "deleted";
      }
      return written === "ok" ? "added" : "there";
    },
    async close({ tenant, user }, { id, revision, validTo, replacedBy }) {
      const now = clock.now();
      const set: Record<string, Value> = {
        validTo,
        closedAt: now,
        ttl: Math.ceil((now + keepClosedMs) / 1000),
        ...(replacedBy === undefined ? {} : { replacedBy }),
      };
      await table.update(factKey(tenant, user, id), { set }, { revision, validTo: undefined, format: currentFormat });
    },
    async keepVector({ tenant, user }, { id, revision, vector }) {
      const set = { vector: vector.packed, vectorModel: vector.model };
      await table.update(factKey(tenant, user, id), { set }, { revision, format: currentFormat });
    },
    async correct(scope, id, text) {
      const found = await get(scope, id);
      if (!found) return null;
      const { revision } = found;
      const set = { text, origin: "user", correctedAt: clock.now(), revision: revision + 1 };
      const after = await table.update(
        factKey(scope.tenant, scope.user, id),
        { set, remove: ["vector", "vectorModel"] },
        { revision, format: currentFormat },
      );
      return after === "refused" ? null : read(after);
    },
    async remove(scope, id) {
      const { tenant, user } = scope;
      if (!(await table.get(factKey(tenant, user, id)))) return false;
      const ttl = Math.ceil((clock.now() + keepForgottenMs) / 1000);
      await table.put({ ...forgottenKey(tenant, user, id), format: currentFormat, ttl });
      await table.remove(factKey(tenant, user, id));
      return true;
    },
  };
}

function write({ id: _id, source, vector, ...fact }: Fact): Omit<Item, "pk" | "sk"> {
  return {
    format: currentFormat,
    ...fact,
    sessionId: source.sessionId,
    turn: source.turn,
    ...(vector ? { vector: vector.packed, vectorModel: vector.model } : {}),
  };
}

function read(raw: Item): Fact {
  const where = `${raw.pk}/${raw.sk}`;
  const item = upcast(raw, where);
  const text = (name: string): string => {
    const value = item[name];
    if (typeof value !== "string") throw new UnreadableRecord(`${where}: no ${name}`);
    return value;
  };
  const number = (name: string): number => {
    const value = item[name];
    if (typeof value !== "number") throw new UnreadableRecord(`${where}: no ${name}`);
    return value;
  };
  const optional = (name: "validTo" | "closedAt" | "correctedAt") =>
    item[name] === undefined ? {} : { [name]: number(name) };
  const kind = factKinds.find((known) => known === item.kind);
  const origin = (["user", "agent", "tool"] as const).find((known) => known === item.origin);
  if (!kind || !origin) throw new UnreadableRecord(`${where}: kind or origin is not known`);
  return {
    id: item.sk.slice(factPrefix.length),
    text: text("text"),
    kind,
    source: { sessionId: text("sessionId"), turn: number("turn") },
    origin,
    validFrom: number("validFrom"),
    ...optional("validTo"),
    storedAt: number("storedAt"),
    ...optional("closedAt"),
    ...(item.replacedBy === undefined ? {} : { replacedBy: text("replacedBy") }),
    ...optional("correctedAt"),
    revision: number("revision"),
    ...(item.vector === undefined ? {} : { vector: { model: text("vectorModel"), packed: text("vector") } }),
  };
}
