// What expiry, conditions, changes and order mean, for the adapters that decide in JavaScript (memory,
// SQLite). The DynamoDB adapter says the same in expressions; the contract suite holds them together.
import { InvalidInput, ItemTooLarge } from "../core/errors.ts";
import type { Change, Condition, Item, Value } from "./table.ts";

/** Largest item in bytes, names included (DynamoDB, "Quotas": 400 KB). */
const maxItemBytes = 400 * 1024;

/** Whether there is an item whose `ttl` has not passed. `nowMs`: epoch milliseconds. */
export function isLive(item: Item | null | undefined, nowMs: number): item is Item {
  return item !== null && item !== undefined && (item.ttl === undefined || item.ttl * 1000 > nowMs);
}

/** Whether `condition` holds for the live item of a key (null: there is none). */
export function holds(condition: Condition | undefined, live: Item | null): boolean {
  if (condition === undefined) return true;
  return "absent" in condition ? live === null : live !== null && hasAll(live, condition.equals);
}

/** Whether the item has all these values; undefined: the attribute is not there. */
export function hasAll(item: Item, equals: Record<string, Value | undefined> = {}): boolean {
  return Object.entries(equals).every(([name, value]) => sameValue(item[name], value));
}

/** A new item after `change`. Throws InvalidInput when `add` meets what is no whole number. */
export function changed(item: Item, change: Change): Item {
  const after: Item = { ...item, ...change.set };
  for (const name of change.remove ?? []) delete after[name];
  for (const [name, amount] of Object.entries(change.add ?? {})) {
    const before = item[name] ?? 0;
    const sum = typeof before === "number" ? before + amount : Number.NaN;
    if (!Number.isSafeInteger(sum)) {
      const message = `${amount} cannot be added to ${typeof before === "number" ? before : typeof before}`;
      throw new InvalidInput(`${item.pk}/${item.sk}: ${message}`, { errors: [{ path: `$.${name}`, message }] });
    }
    after[name] = sum;
  }
  return after;
}

/** Throws ItemTooLarge, so that what works embedded also works on DynamoDB. Numbers are counted at their largest. */
export function checkSize(item: Item): void {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) {
    if (value !== undefined) bytes += Buffer.byteLength(name) + valueBytes(value);
  }
  if (bytes > maxItemBytes) {
    throw new ItemTooLarge(`${item.pk}/${item.sk} takes ${bytes} bytes; an item holds at most ${maxItemBytes}`);
  }
}

/** Order of UTF-8 bytes, which is that of DynamoDB and SQLite; JavaScript's own differs above U+D800. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above U+FFFF, so they come after U+E000 to U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function sameValue(a: Value | undefined, b: Value | undefined): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a === b;
}

function valueBytes(value: Value): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.byteLength;
  return typeof value === "boolean" ? 1 : 21;
}
