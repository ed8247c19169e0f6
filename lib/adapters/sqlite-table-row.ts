// An item as a row: what is searched by stands in columns, the rest in one JSON text, so that the file can be
// looked into with any SQLite tool. Bytes are the only objects in it: {"bytes": "<base64>"}.
import { UnreadableRecord } from "../core/errors.ts";
import type { Item, Value } from "../ports/table.ts";

export type Row = {
  pk: string;
  sk: string;
  ttl: number | null;
  due: number | null;
  list: string | null;
  list_at: string | null;
  body: string;
};

type Stored = Exclude<Value, Uint8Array> | { bytes: string };
type Values = [string, string, number | null, number | null, string | null, string | null, string];

/** The values of the columns, in the order of `Row`. */
export function toRow({ pk, sk, ttl, due, list, listAt, ...rest }: Item): Values {
  const body: Record<string, Stored> = {};
  for (const [name, value] of Object.entries(rest)) {
    if (value !== undefined) body[name] = value instanceof Uint8Array ? { bytes: base64(value) } : value;
  }
  return [pk, sk, ttl ?? null, due ?? null, list ?? null, listAt ?? null, JSON.stringify(body)];
}

function base64(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
}

/** Throws UnreadableRecord naming the key and the attribute. */
export function fromRow(row: Row): Item {
  const item: Item = { pk: row.pk, sk: row.sk };
  if (row.ttl !== null) item.ttl = row.ttl;
  if (row.due !== null) item.due = row.due;
  if (row.list !== null) item.list = row.list;
  if (row.list_at !== null) item.listAt = row.list_at;
  for (const [name, stored] of Object.entries(parse(row))) {
    const value = toValue(stored);
    if (value === null) throw new UnreadableRecord(`${row.pk}/${row.sk}.${name}: no value that Baton wrote`);
    item[name] = value;
  }
  return item;
}

function parse(row: Row): object {
  try {
    const body: unknown = JSON.parse(row.body);
    if (typeof body === "object" && body !== null && !Array.isArray(body)) return body;
  } catch (cause) {
    throw new UnreadableRecord(`${row.pk}/${row.sk}: the stored attributes are not JSON`, { cause });
  }
  throw new UnreadableRecord(`${row.pk}/${row.sk}: the stored attributes are no JSON object`);
}

function toValue(stored: unknown): Value | null {
  if (typeof stored === "string" || typeof stored === "number" || typeof stored === "boolean") return stored;
  if (typeof stored !== "object" || stored === null || !("bytes" in stored)) return null;
  return typeof stored.bytes === "string" ? new Uint8Array(Buffer.from(stored.bytes, "base64")) : null;
}
