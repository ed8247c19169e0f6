// The Table for fast tests: everything in this process, nothing kept. Every answer is a copy, so a test
// cannot change what is stored by changing what it was given.
import type { Item, Key, Page, QueryOptions, Table } from "../ports/table.ts";
import { type Position, positionOf, readCursor, writeCursor } from "../ports/table-cursor.ts";
import {
  checkChange,
  checkCondition,
  checkDue,
  checkEquals,
  checkQuery,
  checkRecent,
  cleanItem,
  cleanKey,
} from "../ports/table-rules.ts";
import { changed, checkSize, compareText, hasAll, holds, isLive } from "../ports/table-semantics.ts";

/** `now`: epoch milliseconds, for expiry. */
export type MemoryTableOptions = { now: () => number };

/** Items in sort key order. */
type Partition = Item[];

export function createMemoryTable({ now }: MemoryTableOptions): Table {
  const partitions = new Map<string, Partition>();
  /** Items that stand in an index, so that a look-up does not walk through all checkpoints. */
  const indexed = new Map<string, Item>();

  function live(key: Key): Item | null {
    const partition = partitions.get(key.pk) ?? [];
    const item = partition[place(partition, key.sk)];
    return item?.sk === key.sk && isLive(item, now()) ? item : null;
  }

  function write(item: Item): void {
    const partition = partitions.get(item.pk) ?? [];
    if (partition.length === 0) partitions.set(item.pk, partition);
    const at = place(partition, item.sk);
    partition.splice(at, partition[at]?.sk === item.sk ? 1 : 0, item);
    if (item.due !== undefined || item.list !== undefined) indexed.set(nameOf(item), item);
    else indexed.delete(nameOf(item));
  }

  function erase(key: Key): void {
    const partition = partitions.get(key.pk) ?? [];
    const at = place(partition, key.sk);
    if (partition[at]?.sk !== key.sk) return;
    partition.splice(at, 1);
    if (partition.length === 0) partitions.delete(key.pk);
    indexed.delete(nameOf(key));
  }

  function look(items: Item[], attribute: "due" | "listAt", options: LookOptions): Page {
    const [start = null] = readCursor(options.cursor, attribute, 1);
    const direction = attribute === "due" ? 1 : -1;
    const found = items
      .map((item) => ({ item, position: positionOf(item, attribute) }))
      .filter(({ position }) => start === null || direction * comparePositions(position, start) > 0)
      .sort((a, b) => direction * comparePositions(a.position, b.position));
    const page = found.slice(0, options.limit ?? found.length);
    const last = page.at(-1);
    const more = last !== undefined && page.length < found.length;
    return {
      items: page.map(({ item }) => cleanItem(item)),
      ...(more ? { cursor: writeCursor([last.position]) } : {}),
    };
  }

  return {
    async put(item, condition) {
      const clean = cleanItem(item);
      checkCondition(condition);
      checkSize(clean);
      if (!holds(condition, live(clean))) return "refused";
      write(clean);
      return "ok";
    },

    async get(key) {
      const item = live(cleanKey(key));
      return item && cleanItem(item);
    },

    async query(options) {
      checkQuery(options);
      const partition = partitions.get(options.pk) ?? [];
      const { from, to } = range(partition, options);
      const found: Item[] = [];
      // No further than the limit: the latest version of a long session costs as little as that of a short one.
      for (let n = 0; n < to - from && found.length < (options.limit ?? to); n++) {
        const item = partition[options.reverse ? to - 1 - n : from + n];
        if (isLive(item, now())) found.push(cleanItem(item));
      }
      return found;
    },

    async update(key, change, equals) {
      const target = cleanKey(key);
      checkChange(change);
      checkEquals(equals);
      const item = live(target);
      if (!item || !hasAll(item, equals)) return "refused";
      const after = cleanItem(changed(item, change));
      checkSize(after);
      write(after);
      return cleanItem(after);
    },

    async remove(key, equals) {
      const target = cleanKey(key);
      checkEquals(equals);
      const item = live(target);
      if (item && !hasAll(item, equals)) return "refused";
      erase(target);
      return "ok";
    },

    async due(options) {
      checkDue(options);
      const items = [...indexed.values()].filter(
        (item) => isLive(item, now()) && (item.due ?? Infinity) <= options.before,
      );
      return look(items, "due", options);
    },

    async recent(options) {
      checkRecent(options);
      const items = [...indexed.values()].filter(
        (item) => isLive(item, now()) && item.list === options.list && item.listAt !== undefined,
      );
      return look(items, "listAt", options);
    },

    async close() {},
  };
}

type LookOptions = { limit?: number; cursor?: string };

/** Index of the first item whose sort key is not before `sk`. */
function place(partition: Partition, sk: string): number {
  return firstAfter(partition, 0, (key) => compareText(key, sk) < 0);
}

/** Index of the first item from `from` on for which `isBefore` is false; for all after it it must be false too. */
function firstAfter(partition: Partition, from: number, isBefore: (sk: string) => boolean): number {
  let [low, high] = [from, partition.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(partition[middle]?.sk ?? "")) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The indexes that `prefix` and `after` leave: `from` and before `to`. */
function range(partition: Partition, { prefix = "", after, reverse }: QueryOptions): { from: number; to: number } {
  let from = place(partition, prefix);
  let to = firstAfter(partition, from, (sk) => sk.startsWith(prefix));
  if (after !== undefined && reverse) to = Math.min(to, place(partition, after));
  if (after !== undefined && !reverse) {
    const at = place(partition, after);
    from = Math.max(from, partition[at]?.sk === after ? at + 1 : at);
  }
  return { from, to };
}

function comparePositions(a: Position, b: Position): number {
  const first =
    typeof a[0] === "number" && typeof b[0] === "number" ? a[0] - b[0] : compareText(String(a[0]), String(b[0]));
  return first || compareText(a[1], b[1]) || compareText(a[2], b[2]);
}

function nameOf(key: Key): string {
  return JSON.stringify([key.pk, key.sk]);
}
