// The one port to a database. Everything that has meaning (append as lock, pointer swap, inbox, approvals,
// budgets) is written once over it, in lib/store; an adapter only keeps items.
//
// What must hold for every adapter (test/contract/table-contract.ts checks it):
// - get, query and conditions see every write that was acknowledged before (strong reads). `due` and
//   `recent` may lag and are never used to decide.
// - An item is absent from the very second of its `ttl` on: for reads, queries, look-ups and every condition.
// - A refused condition is an answer ("refused"), never an exception, and changes nothing. It is the truth: an
//   adapter never repeats a write whose answer was lost, so a refusal is not the echo of an own success.
// - An exception of kind `Transient` (StoreUnavailable, StoreThrottled) says nothing about whether the
//   write happened: the caller reads back. StoreRejected (Terminal): no such table, no permission.
// - Attribute values come back equal: well-formed text (empty too), numbers within ±(2^53 - 1), booleans, bytes.
//   Nothing else is accepted (InvalidInput with the path); nothing is dropped. Refused with it: -0, numbers
//   closer to 0 than 1e-130, half surrogate pairs, null; an undefined attribute of an item is left out.
// - An item of more than 400 KB is refused with ItemTooLarge. Keys are 1 to 2048 (pk) and 1 to 1024 (sk) bytes.
// - Sort keys are ordered by their UTF-8 bytes.
// - What is given and what is answered share nothing with what is stored.

export type Value = string | number | boolean | Uint8Array;

export type Key = { pk: string; sk: string };

/**
 * An item. Reserved attributes besides the key:
 * `ttl` epoch SECONDS from which on it is absent (milliseconds are refused); `due` epoch milliseconds at which the sweeper should look at
 * it; `list` and `listAt`: partition and sort key of the listing (text order) for `recent`.
 */
export type Item = Key & {
  ttl?: number;
  due?: number;
  list?: string;
  listAt?: string;
  [attribute: string]: Value | undefined;
};

/** `absent`: no live item has this key. `equals`: a live item has it, and these attributes have these values (undefined: not there). */
export type Condition = { absent: true } | { equals: Record<string, Value | undefined> };

/** An attribute may stand in one of the three only; the key never changes. */
export type Change = {
  set?: Record<string, Value>;
  remove?: string[];
  /**
   * Adds whole numbers; a missing attribute counts as 0. InvalidInput when it is no number. Sums have to stay
   * within ±(2^53 - 1): not every store checks that.
   */
  add?: Record<string, number>;
};

export type QueryOptions = {
  pk: string;
  /** Only sort keys that start with it. */
  prefix?: string;
  /** Only sort keys after it (with `reverse`: before it). Exclusive. */
  after?: string;
  /** Most items to return; all pages are followed until then. @default all */
  limit?: number;
  /** Highest sort key first. @default false */
  reverse?: boolean;
};

export type Page = { items: Item[] /** Give back as `cursor` for what follows; absent at the end. */; cursor?: string };

export interface Table {
  /** Writes the whole item, replacing what was there. May be repeated. */
  put(item: Item, condition?: Condition): Promise<"ok" | "refused">;
  get(key: Key): Promise<Item | null>;
  query(options: QueryOptions): Promise<Item[]>;
  /** Changes an existing live item, never makes one: "refused" when it is absent or `equals` does not hold. Answers the item after. */
  update(key: Key, change: Change, equals?: Record<string, Value | undefined>): Promise<Item | "refused">;
  /** Removing what is not there (or has expired) is "ok", whatever `equals` says. "refused" when a live item differs from `equals`. */
  remove(key: Key, equals?: Record<string, Value | undefined>): Promise<"ok" | "refused">;
  /**
   * Items of all tenants with `due` <= `before`, earliest first; items of one time in any order. `limit`: @default all.
   * InvalidInput for a cursor that is none: cursors travel through clients.
   */
  due(options: { before: number; limit?: number; cursor?: string }): Promise<Page>;
  /** Items with this `list` and a `listAt`, highest `listAt` first (by UTF-8 bytes). Otherwise as `due`. */
  recent(options: { list: string; limit?: number; cursor?: string }): Promise<Page>;
  close(): Promise<void>;
}

export type CreateTable<Options> = (options: Options & { now: () => number }) => Table;
