// The one port to a database. Everything that has meaning (append as lock, pointer swap, inbox, approvals,
// budgets) is written once over it, in lib/store; an adapter only keeps items.
//
// What must hold for every adapter (test/contract/table.ts checks it):
// - get, query and conditions see every write that was acknowledged before (strong reads). `due` and
//   `recent` may lag and are never used to decide.
// - An item whose `ttl` has passed is absent: for reads, queries, look-ups and every condition.
// - A refused condition is an answer ("refused"), never an exception, and changes nothing.
// - An exception of kind `Transient` (StoreUnavailable, StoreThrottled) says nothing about whether the
//   write happened: the caller reads back.
// - Attribute values come back equal: strings (any valid UTF-16 text, empty too), finite numbers, booleans,
//   bytes. Nothing else is accepted; nothing is dropped.

export type Value = string | number | boolean | Uint8Array;

export type Key = { pk: string; sk: string };

/**
 * An item. Reserved attributes besides the key:
 * `ttl` epoch SECONDS after which it is absent; `due` epoch milliseconds at which the sweeper should look at
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

export type Change = {
  set?: Record<string, Value>;
  remove?: string[];
  /** Adds to a number; a missing attribute counts as 0. */
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
  /** Removing what is not there is "ok". With `equals`, "refused" when the live item differs. */
  remove(key: Key, equals?: Record<string, Value | undefined>): Promise<"ok" | "refused">;
  /** Items of all tenants with `due` <= `before`, earliest first. */
  due(options: { before: number; limit?: number; cursor?: string }): Promise<Page>;
  /** Items with this `list`, highest `listAt` first. */
  recent(options: { list: string; limit?: number; cursor?: string }): Promise<Page>;
  close(): Promise<void>;
}

/** Compares sort keys as DynamoDB does: by UTF-8 bytes. */
export type CreateTable<Options> = (options: Options & { now: () => number }) => Table;
