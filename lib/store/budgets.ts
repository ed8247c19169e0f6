// Money and tokens per scope (a session, a user's day, a tenant's day), reserved before a model call and settled after it.
// One item a scope; an open reservation is one attribute of it, so that reserving and settling are one conditional
// update each and need no transaction. A reservation is there or it is not: nothing is settled twice.
//
// What is certain: spent + reserved never exceeds a limit by an approved call, since each reservation sees the sum that
// it made itself. What nobody knows (the process died between call and receipt) counts as spent at its worst case.
import { Fenced, isDisposition, StoreUnavailable, UnreadableRecord } from "../core/errors.ts";
import { dayMs } from "../core/utc-day.ts";
import type { Clock } from "../ports/clock.ts";
import type { Item, Key, Table } from "../ports/table.ts";
import { sha256 } from "./encoding.ts";
import { currentFormat, upcast } from "./formats.ts";
import { budgetKey } from "./keys.ts";

/** Micro-dollars and tokens; whole numbers from 0 on. */
export type Amount = { usdMicros: number; tokens: number };

/** A scope that counts; `limit` 0 = counted without a limit. `seed`: spent already when the scope is counted for the first time. */
export type Scope = { name: string; limit: Amount; seed?: Amount };

export type BudgetCall = {
  tenant: string;
  /** The same for every attempt at this call: a second one finds what the first has left. */
  id: string;
  /** New for every attempt, so that a late first one cannot settle the second one's reservation. */
  nonce: string;
  /** The most that the call can cost. */
  amount: Amount;
  /** Epoch ms after which nobody can be making the call any more. */
  until: number;
};

export type Reservation = { call: BudgetCall; scopes: string[] };
export type Balance = { spent: Amount; reserved: Amount };
export type Over = Balance & { scope: string; unit: "usdMicros" | "tokens"; limit: number };

export interface Budgets {
  /**
   * Reserves the call's worst case in every scope, or in none. Calling it again for the same call id (a resumed step) counts
   * what the earlier attempt reserved as spent if its call may have been made, and releases it if not. Throws `Fenced` when
   * a later attempt has taken this one over meanwhile: the call must not be made.
   */
  reserve(call: BudgetCall, scopes: readonly Scope[]): Promise<{ reservation: Reservation } | { over: Over }>;
  /** Replaces the reservation by what was really spent. Again, or after another attempt took it over: nothing happens. */
  settle(reservation: Reservation, actual: Amount): Promise<void>;
  /** What stands in a scope now. */
  balance(tenant: string, scope: string): Promise<Balance>;
}

/** Budgets and usage are kept this long after they were last touched. */
export const keepBudgetMs = 400 * dayMs;

const prefix = "r:";
const maxTries = 6;
/** Looks at a scope that seems over: another call that is about to be refused may stand in the sum. */
const maxLooks = 3;
const maxExpiredAtOnce = 10;

export function createBudgets(table: Table, clock: Clock): Budgets {
  const ttl = () => Math.ceil((clock.now() + keepBudgetMs) / 1000);

  async function reserve(call: BudgetCall, scopes: readonly Scope[]): ReturnType<Budgets["reserve"]> {
    const held: string[] = [];
    for (const scope of scopes) {
      const over = await reserveIn(call, scope, scopes.at(-1)?.name ?? scope.name);
      if (over) {
        await settle({ call, scopes: held }, nothing);
        return { over };
      }
      held.push(scope.name);
    }
    const [first] = held;
    // Whoever takes over writes the first scope and then reads the last; this writes the last and then reads the first. So
    // either this attempt stops here, or the other one sees that it may have gone on.
    if (held.length > 1 && first !== undefined && (await markIn(call, first)) !== markOf(call)) {
      await settle({ call, scopes: held }, nothing);
      throw new Fenced("another attempt has taken this model call over");
    }
    return { reservation: { call, scopes: held } };
  }

  async function reserveIn(call: BudgetCall, scope: Scope, last: string): Promise<Over | null> {
    for (let look = 1; ; look++) {
      const after = await hold(call, scope, last);
      await settleExpired(after);
      const over = exceeded(scope, balanceOf(after));
      if (!over) return null;
      await settleOne(call, scope.name, nothing);
      const others = minus(over.reserved, call.amount);
      // What was granted fits the limit, so a sum of others that does not holds one that is about to be refused.
      const transient = over.spent[over.unit] <= over.limit && over.spent[over.unit] + others[over.unit] > over.limit;
      if (!transient || look === maxLooks) return { ...over, reserved: others };
      await clock.sleep(25 * look);
    }
  }

  /** The scope's item with this call's reservation in it. */
  async function hold(call: BudgetCall, scope: Scope, last: string): Promise<Item> {
    const key = budgetKey(call.tenant, scope.name);
    const name = attributeOf(call);
    const mark = markOf(call);
    return patiently(async () => {
      const set = { [name]: mark, ttl: ttl() };
      const after = await table.update(key, { set, add: adding("reserved", call.amount) }, open({ [name]: undefined }));
      if (after !== "refused") return after;
      const found = await table.get(key);
      if (!found) {
        const seed = scope.seed ?? nothing;
        const item: Item = { ...key, format: currentFormat, ...set, ...amounts(seed, call.amount) };
        return (await table.put(item, { absent: true })) === "ok" ? item : "again";
      }
      const earlier = upcast(found, key.pk)[name];
      if (earlier === mark) return found;
      if (typeof earlier !== "string") return "again";
      const old = readMark(earlier, key);
      const moved = { ...adding("reserved", minus(call.amount, old.amount)), ...adding("spent", old.amount) };
      const taken = await table.update(key, { set, add: moved }, open({ [name]: earlier }));
      if (taken === "refused") return "again";
      // The earlier attempt reserved scope by scope, so it made its call only if the last scope has its mark too. The refund is
      // tried once: repeated after a lost answer it would count twice.
      if (scope.name === last || (await markIn(call, last)) === earlier) return taken;
      const refunded = await table.update(key, { add: adding("spent", minus(nothing, old.amount)) });
      return refunded === "refused" ? taken : refunded;
    });
  }

  async function markIn(call: BudgetCall, scope: string): Promise<unknown> {
    return (await table.get(budgetKey(call.tenant, scope)))?.[attributeOf(call)];
  }

  async function settle({ call, scopes }: Reservation, actual: Amount): Promise<void> {
    for (const scope of scopes) await settleOne(call, scope, actual);
  }

  function settleOne(call: BudgetCall, scope: string, actual: Amount): Promise<void> {
    return close(budgetKey(call.tenant, scope), attributeOf(call), markOf(call), call.amount, actual);
  }

  /** Refused means that it is settled already: by us with a lost answer, or by whoever took it over. */
  async function close(key: Key, name: string, mark: string, reserved: Amount, actual: Amount): Promise<void> {
    const add = { ...adding("reserved", minus(nothing, reserved)), ...adding("spent", actual) };
    await patiently(() => table.update(key, { remove: [name], add }, open({ [name]: mark })));
  }

  /** What dead processes left: nobody will bring a receipt, so it counts as spent. */
  async function settleExpired(item: Item): Promise<void> {
    const key = { pk: item.pk, sk: item.sk };
    const expired = Object.entries(item).filter(
      ([name, mark]) => name.startsWith(prefix) && typeof mark === "string" && readMark(mark, key).until < clock.now(),
    );
    for (const [name, mark] of expired.slice(0, maxExpiredAtOnce)) {
      const { amount } = readMark(String(mark), key);
      await close(key, name, String(mark), amount, amount);
    }
  }

  /** Tries again after a passing fault: each write above is conditional, so a repeat whose first try had won is refused. */
  async function patiently<T>(write: () => Promise<T | "again">): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const done = await write();
        if (done !== "again") return done;
      } catch (error) {
        if (!isDisposition(error, "Transient") || attempt >= maxTries) throw error;
      }
      if (attempt >= maxTries * 10) throw new StoreUnavailable("a budget is written by very many calls at once");
      await clock.sleep(Math.min(1000, 10 * 2 ** Math.min(attempt, maxTries)));
    }
  }

  return {
    reserve,
    settle,
    async balance(tenant, scope) {
      const found = await table.get(budgetKey(tenant, scope));
      return found ? balanceOf(upcast(found, found.pk)) : { spent: nothing, reserved: nothing };
    },
  };
}

export const nothing: Amount = { usdMicros: 0, tokens: 0 };

/** Conditions hold only for an item that this release may change. */
function open(equals: Record<string, string | undefined>) {
  return { ...equals, format: currentFormat };
}

/** Short, since all open reservations of a scope stand in its one item. */
function attributeOf(call: BudgetCall): string {
  return `${prefix}${sha256(call.id).slice(0, 20)}`;
}

function markOf({ amount, until, nonce }: BudgetCall): string {
  return `${amount.usdMicros},${amount.tokens},${until},${nonce}`;
}

function readMark(mark: string, key: Key): { amount: Amount; until: number } {
  const [usdMicros = Number.NaN, tokens = Number.NaN, until = Number.NaN] = mark.split(",", 3).map(Number);
  if (![usdMicros, tokens, until].every(Number.isSafeInteger)) {
    throw new UnreadableRecord(`${key.pk}/${key.sk}: a reservation is damaged`);
  }
  return { amount: { usdMicros, tokens }, until };
}

function adding(what: "spent" | "reserved", amount: Amount): Record<string, number> {
  return { [`${what}Micros`]: amount.usdMicros, [`${what}Tokens`]: amount.tokens };
}

function amounts(spent: Amount, reserved: Amount): Record<string, number> {
  return { ...adding("spent", spent), ...adding("reserved", reserved) };
}

function minus(a: Amount, b: Amount): Amount {
  return { usdMicros: a.usdMicros - b.usdMicros, tokens: a.tokens - b.tokens };
}

function balanceOf(item: Item): Balance {
  const number = (name: string) => (typeof item[name] === "number" ? item[name] : 0);
  return {
    spent: { usdMicros: number("spentMicros"), tokens: number("spentTokens") },
    reserved: { usdMicros: number("reservedMicros"), tokens: number("reservedTokens") },
  };
}

function exceeded(scope: Scope, balance: Balance): Over | null {
  for (const unit of ["usdMicros", "tokens"] as const) {
    const limit = scope.limit[unit];
    if (limit > 0 && balance.spent[unit] + balance.reserved[unit] > limit) {
      return { scope: scope.name, unit, limit, ...balance };
    }
  }
  return null;
}
