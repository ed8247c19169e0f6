// What may enter a Table, checked at the edge in the same way by every adapter, so that an item which one
// store takes is never refused, rounded or dropped by another. The bounds are those of DynamoDB.
import { type FieldError, InvalidInput } from "../core/errors.ts";
import type { Change, Condition, Item, Key, QueryOptions, Value } from "./table.ts";

/** Attributes that only an adapter may write. */
const reservedForAdapters = ["dueShard"];
/** Attributes that a Table reads itself; `add` may not touch them. */
const reserved = ["pk", "sk", "ttl", "due", "list", "listAt"];
/** 11 digits: the year 5138 in seconds, 1973 in milliseconds; so milliseconds never pass as seconds (H78). */
const maxTtlSeconds = 99_999_999_999;
/** Bytes of UTF-8 (DynamoDB, "Quotas": partition key and sort key). */
const maxPartitionKeyBytes = 2048;
const maxSortKeyBytes = 1024;
const minMagnitude = 1e-130;

/** A copy of `item` that shares nothing with it, without undefined attributes. Throws InvalidInput with every bad path. */
export function cleanItem(item: Item): Item {
  const errors: FieldError[] = keyErrors(item);
  const clean: Item = { pk: item.pk, sk: item.sk };
  for (const [name, value] of Object.entries(item)) {
    if (value === undefined || name === "pk" || name === "sk") continue;
    errors.push(...attributeErrors(name, value));
    clean[name] = copyValue(value);
  }
  refuse("item", errors);
  return clean;
}

/** Only `pk` and `sk`. Throws InvalidInput. */
export function cleanKey(key: Key): Key {
  refuse("key", keyErrors(key));
  return { pk: key.pk, sk: key.sk };
}

/** Throws InvalidInput for a condition that cannot hold or is no condition. */
export function checkCondition(condition: Condition | undefined): void {
  if (condition === undefined) return;
  const kinds = Object.keys(condition);
  if (kinds.length !== 1 || ("absent" in condition ? condition.absent !== true : !("equals" in condition))) {
    throw new InvalidInput("a condition is {absent: true} or {equals: {…}}", {
      errors: [{ path: "$", message: `found ${JSON.stringify(kinds)}` }],
    });
  }
  if ("equals" in condition) checkEquals(condition.equals);
}

/** Throws InvalidInput for attributes that no item could have. */
export function checkEquals(equals: Record<string, Value | undefined> | undefined): void {
  const errors: FieldError[] = [];
  for (const [name, value] of Object.entries(equals ?? {})) {
    errors.push(...nameErrors(name), ...(value === undefined ? [] : valueErrors(name, value)));
  }
  refuse("condition", errors);
}

/** Throws InvalidInput: bad values, a change of the key, or two changes of one attribute. */
export function checkChange(change: Change): void {
  const errors: FieldError[] = [];
  for (const [name, value] of Object.entries(change.set ?? {})) errors.push(...attributeErrors(name, value));
  for (const name of change.remove ?? []) errors.push(...nameErrors(name));
  for (const [name, value] of Object.entries(change.add ?? {})) {
    errors.push(...nameErrors(name));
    if (!Number.isSafeInteger(value)) errors.push({ path: pathOf(name), message: "only whole numbers can be added" });
    if (reserved.includes(name))
      errors.push({ path: pathOf(name), message: "a reserved attribute is set, not added to" });
  }
  const names = [...Object.keys(change.set ?? {}), ...(change.remove ?? []), ...Object.keys(change.add ?? {})];
  names.forEach((name, at) => {
    if (names.indexOf(name) !== at) errors.push({ path: pathOf(name), message: "is changed twice" });
    if (name === "pk" || name === "sk") errors.push({ path: pathOf(name), message: "a key never changes" });
  });
  refuse("change", errors);
}

/** Throws InvalidInput. */
export function checkQuery(options: QueryOptions): void {
  refuse("query", [
    ...textErrors("pk", options.pk, maxPartitionKeyBytes),
    ...(options.prefix ? textErrors("prefix", options.prefix, maxSortKeyBytes) : []),
    ...(options.after ? textErrors("after", options.after, maxSortKeyBytes) : []),
    ...limitErrors(options.limit),
  ]);
}

/** Throws InvalidInput. */
export function checkDue(options: { before: number; limit?: number }): void {
  const bad = !Number.isSafeInteger(options.before);
  refuse("look-up", [
    ...(bad ? [{ path: "$.before", message: "must be whole milliseconds" }] : []),
    ...limitErrors(options.limit),
  ]);
}

/** Throws InvalidInput. */
export function checkRecent(options: { list: string; limit?: number }): void {
  refuse("look-up", [...textErrors("list", options.list, maxPartitionKeyBytes), ...limitErrors(options.limit)]);
}

function keyErrors(key: Key): FieldError[] {
  return [...textErrors("pk", key.pk, maxPartitionKeyBytes), ...textErrors("sk", key.sk, maxSortKeyBytes)];
}

function attributeErrors(name: string, value: unknown): FieldError[] {
  if (name === "ttl") return wholeErrors(name, value, maxTtlSeconds, "epoch seconds");
  if (name === "due") return wholeErrors(name, value, Number.MAX_SAFE_INTEGER, "epoch milliseconds");
  if (name === "list") return textErrors(name, value, maxPartitionKeyBytes);
  if (name === "listAt") return textErrors(name, value, maxSortKeyBytes);
  return [...nameErrors(name), ...valueErrors(name, value)];
}

function nameErrors(name: string): FieldError[] {
  if (reservedForAdapters.includes(name)) return [{ path: pathOf(name), message: "this name is kept for adapters" }];
  const bad = name === "" || name === "__proto__" || !name.isWellFormed();
  return bad ? [{ path: pathOf(name), message: "not a possible name of an attribute" }] : [];
}

function valueErrors(name: string, value: unknown): FieldError[] {
  const message = valueFault(value);
  return message ? [{ path: pathOf(name), message }] : [];
}

function valueFault(value: unknown): string | null {
  if (typeof value === "boolean" || value instanceof Uint8Array) return null;
  if (typeof value === "string") return value.isWellFormed() ? null : "text holds half of a surrogate pair";
  if (typeof value !== "number") return `${value === null ? "null" : typeof value} cannot be kept in an item`;
  if (Object.is(value, -0)) return "-0 comes back as 0";
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return `${value} is outside ±(2^53 - 1)`;
  return value !== 0 && Math.abs(value) < minMagnitude ? `${value} is too small to be kept` : null;
}

function wholeErrors(name: string, value: unknown, max: number, unit: string): FieldError[] {
  const good = typeof value === "number" && Number.isSafeInteger(value) && !Object.is(value, -0) && value >= 0;
  if (good && value <= max) return [];
  return [{ path: pathOf(name), message: `must be ${unit} from 0 to ${max}, found ${String(value)}` }];
}

function textErrors(name: string, value: unknown, maxBytes: number): FieldError[] {
  const good = typeof value === "string" && value !== "" && value.isWellFormed();
  if (good && Buffer.byteLength(value) <= maxBytes) return [];
  return [{ path: pathOf(name), message: `must be 1 to ${maxBytes} bytes of valid text` }];
}

function limitErrors(limit: number | undefined): FieldError[] {
  if (limit === undefined || (Number.isSafeInteger(limit) && limit >= 1)) return [];
  return [{ path: "$.limit", message: `must be a whole number from 1 on, found ${limit}` }];
}

function copyValue(value: Value): Value {
  return value instanceof Uint8Array ? new Uint8Array(value) : value;
}

function pathOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `$.${name}` : `$[${JSON.stringify(name)}]`;
}

function refuse(what: string, errors: FieldError[]): void {
  const first = errors[0];
  if (first) throw new InvalidInput(`this ${what} cannot be stored: ${first.path}: ${first.message}`, { errors });
}
