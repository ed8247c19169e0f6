// Any Table, with faults at chosen calls: death before and after a write, lost answers, throttling, delays and
// lagging reads. For tests that prove what happens then; counts what reaches the table on the way.
import { createMemoryTable } from "../adapters/memory-table.ts";
import { InvalidInput, StoreThrottled, StoreUnavailable } from "../core/errors.ts";
import type { Item, Key, Page, Table } from "../ports/table.ts";

export type TableWrite = "put" | "update" | "remove";
export type TableRead = "get" | "query" | "due" | "recent";

/** One call, as a plan's predicate and `calls` see it. */
export type TableCall = {
  op: TableWrite | TableRead;
  /** 1 for the first call of any kind. */
  call: number;
  /** 1 for the first write, 2 for the second …; 0 for a read. Refused and failed writes count. */
  write: number;
  /** What the call is about; `due` and `recent` have none. `sk` is absent for a query. */
  pk?: string;
  sk?: string;
  /** The item of a put. */
  item?: Item;
};

/** The n-th write (from 1), or any call that the predicate picks. */
export type FaultPoint = number | ((call: TableCall) => boolean);

export type Fault =
  /** Throws Crash before the call is performed; the table is dead from then on. */
  | { fault: "death before"; on: FaultPoint }
  /** Performs the call, then throws Crash; the table is dead from then on. */
  | { fault: "death after"; on: FaultPoint }
  /** Performs the call, then throws StoreUnavailable: the caller cannot know. */
  | { fault: "lost answer"; on: FaultPoint; times?: number }
  /** Throws StoreUnavailable and performs nothing: for the caller the same as a lost answer. */
  | { fault: "lost request"; on: FaultPoint; times?: number }
  /** Throws StoreThrottled and performs nothing. */
  | { fault: "throttle"; on: FaultPoint; times?: number }
  /** Waits for `until` before the call is performed, or before it is answered. */
  | { fault: "delay"; on: FaultPoint; until: Promise<unknown>; where?: "before" | "after"; times?: number }
  /**
   * Answers a read as it was before the last `writes` writes that went through this wrapper. Real tables lag in
   * `due` and `recent` only; on get and query it shows what a decision on a weak read would do (H11). Use it for
   * first pages: a lagging answer takes no cursor and gives none.
   */
  | { fault: "stale"; on: FaultPoint; writes: number; times?: number };

/**
 * Faults by the calls they meet. A call has at most one: the first in the list whose point it meets and whose
 * `times` (@default 1; a death: once) are not used up.
 *
 *     createFaultyTable(table, [{ fault: "lost answer", on: 3 }, { fault: "throttle", on: isPut, times: 2 }])
 */
export type FaultPlan = Fault[];

export type FaultyTable = Table & {
  /** Every call so far, in order. */
  readonly calls: readonly TableCall[];
  /** Number of writes so far, refused and failed ones included. */
  readonly writes: number;
  /** Whether a planned death has come. */
  readonly dead: boolean;
};

/** Stands for the death of the process: no BatonError, so nothing handles it as a failure of the store. */
export class Crash extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Crash";
  }
}

/**
 * Wraps `table`. After a death every call throws Crash, since a dead process writes nothing more, not even what its
 * parallel branches were about to; for the process that comes after it, wrap the same table anew. Closing this one
 * closes the table. Throws InvalidInput for a plan that can never come true.
 */
export function createFaultyTable(table: Table, plan: FaultPlan = []): FaultyTable {
  plan.forEach(checkFault);
  const used = new Map<Fault, number>();
  const calls: TableCall[] = [];
  /** Keys written, with what stood there before; only kept when a plan looks back. */
  const past: { key: Key; before: Item | null }[] = [];
  const looksBack = plan.some(({ fault }) => fault === "stale");
  let writes = 0;
  let dead = false;

  function nextFault(call: TableCall): Fault | undefined {
    const found = plan.find((fault) => {
      const left = ("times" in fault ? (fault.times ?? 1) : 1) - (used.get(fault) ?? 0);
      return left > 0 && meets(fault.on, call);
    });
    if (found) used.set(found, (used.get(found) ?? 0) + 1);
    return found;
  }

  async function run<T>(about: Omit<TableCall, "call" | "write">, perform: Perform<T>, stale?: Stale<T>): Promise<T> {
    if (dead) throw new Crash(`${about.op} after the process had died`);
    const isWrite = stale === undefined;
    if (isWrite) writes++;
    const call: TableCall = { ...about, call: calls.length + 1, write: isWrite ? writes : 0 };
    calls.push(call);
    const name = `${call.op} (call ${call.call}${isWrite ? `, write ${call.write}` : ""})`;
    const fault = nextFault(call);

    async function alive(): Promise<T> {
      if (dead) throw new Crash(`${name} after the process had died`);
      const answer = await perform();
      if (dead) throw new Crash(`the process died during ${name}`);
      return answer;
    }

    switch (fault?.fault) {
      case undefined:
        return alive();
      case "death before":
        dead = true;
        throw new Crash(`death before ${name}`);
      case "death after":
        await alive();
        dead = true;
        throw new Crash(`death after ${name}`);
      case "lost answer":
        await alive();
        throw new StoreUnavailable(`the answer of ${name} was lost`);
      case "lost request":
        throw new StoreUnavailable(`the request of ${name} was lost`);
      case "throttle":
        throw new StoreThrottled(`${name} was throttled`);
      case "delay": {
        if (fault.where !== "after") await fault.until;
        const answer = await alive();
        if (fault.where === "after") await fault.until;
        return answer;
      }
      case "stale":
        if (!stale) throw new InvalidInput(`${name} is a write; only reads can be stale`);
        return stale(past.slice(Math.max(0, past.length - fault.writes)));
    }
  }

  function write<T>(op: TableWrite, key: Key, perform: Perform<T>, item?: Item): Promise<T> {
    const about = { op, pk: key.pk, sk: key.sk, ...(item ? { item } : {}) };
    return run(about, async () => {
      if (!looksBack) return perform();
      const before = await table.get(key);
      const answer = await perform();
      if (answer !== "refused") past.push({ key: { pk: key.pk, sk: key.sk }, before });
      return answer;
    });
  }

  return {
    put: (item, condition) => write("put", item, () => table.put(item, condition), item),
    update: (key, change, equals) => write("update", key, () => table.update(key, change, equals)),
    remove: (key, equals) => write("remove", key, () => table.remove(key, equals)),

    get: (key) =>
      run(
        { op: "get", pk: key.pk, sk: key.sk },
        () => table.get(key),
        async (undo) => asOf([await table.get(key)], undo, (old) => old.get(key)),
      ),
    query: (options) =>
      run(
        { op: "query", pk: options.pk },
        () => table.query(options),
        async (undo) => asOf(await table.query({ pk: options.pk }), undo, (old) => old.query(options)),
      ),
    due: (options) =>
      run(
        { op: "due" },
        () => table.due(options),
        async (undo) =>
          firstPage(options, (await table.due({ before: Number.MAX_SAFE_INTEGER })).items, undo, (old) =>
            old.due(options),
          ),
      ),
    recent: (options) =>
      run(
        { op: "recent" },
        () => table.recent(options),
        async (undo) =>
          firstPage(options, (await table.recent({ list: options.list })).items, undo, (old) => old.recent(options)),
      ),

    close: () => table.close(),
    calls,
    get writes() {
      return writes;
    },
    get dead() {
      return dead;
    },
  };
}

type Perform<T> = () => Promise<T>;
type Undo = { key: Key; before: Item | null }[];
type Stale<T> = (undo: Undo) => Promise<T>;

function meets(on: FaultPoint, call: TableCall): boolean {
  return typeof on === "number" ? call.write === on : on(call);
}

/** Reads from the table as it stood before the writes in `undo`. `now`: what is live. */
async function asOf<T>(now: (Item | null)[], undo: Undo, read: (old: Table) => Promise<T>): Promise<T> {
  // Both sides were live when they were read, so this copy needs no clock: without it nothing expires.
  const old = createMemoryTable({ now: () => 0 });
  for (const item of now) if (item) await old.put(item);
  for (const { key, before } of undo.toReversed()) {
    if (before) await old.put(before);
    else await old.remove(key);
  }
  return read(old);
}

async function firstPage(
  options: { cursor?: string },
  now: Item[],
  undo: Undo,
  read: (old: Table) => Promise<Page>,
): Promise<Page> {
  if (options.cursor !== undefined) throw new InvalidInput("a stale answer takes no cursor: only first pages can lag");
  const { items } = await asOf(now, undo, read);
  return { items };
}

function checkFault(fault: Fault): void {
  const times = "times" in fault ? fault.times : undefined;
  const bad =
    (typeof fault.on === "number" && !isCount(fault.on)) ||
    (times !== undefined && !isCount(times)) ||
    (fault.fault === "stale" && (!isCount(fault.writes) || typeof fault.on === "number"));
  if (bad) throw new InvalidInput(`a fault that can never come true: ${JSON.stringify(fault)}`);
}

function isCount(n: number): boolean {
  return Number.isSafeInteger(n) && n >= 1;
}
