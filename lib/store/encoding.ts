// Payloads as canonical JSON text (RFC 8785), gzipped when that saves a tenth, by reference when they are
// large. Decoding never guesses: anything unexpected is an `UnreadableRecord` naming the path.
import { hash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import canonicalizeJson from "canonicalize";
import { UnreadableRecord } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Item, Value } from "../ports/table.ts";

/** Over this many bytes a payload goes to the blob store. */
export const inlineLimitBytes = 32 * 1024;
/** Under this, gzip saves no write unit (1 KB), so it is not tried. */
const gzipFromBytes = 1024;
/**
 * Up to this size the compressor gets a window that just holds the payload: the same bytes, and its memory (48 KB instead of
 * 256) is what compressing a few KB costs. Measured: a twentieth of the processor time of a round.
 */
const smallBytes = 8192;
const small = { level: 6, windowBits: 13, memLevel: 6, chunkSize: 4096 };

/** Canonical JSON text: the same value always gives the same text. The value must have passed `toJson`. */
export function canonical(value: unknown): string {
  const text = canonicalizeJson(value);
  if (text === undefined) throw new UnreadableRecord("a value without a JSON form reached the store");
  return text;
}

export function sha256(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}

/** The attributes `<name>` (text or bytes) and `<name>Enc` of a payload. Blobs are written before this answers. */
export async function encode(name: string, text: string, scope: string, blobs: Blobs): Promise<Record<string, Value>> {
  const size = Buffer.byteLength(text);
  const packed = size >= gzipFromBytes ? gzipSync(text, size <= smallBytes ? small : { level: 6 }) : null;
  const gzip = packed !== null && packed.byteLength <= size * 0.9;
  const bytes = gzip ? packed.byteLength : size;
  if (bytes > inlineLimitBytes) {
    const data = gzip ? packed : Buffer.from(text);
    const hash = await blobs.put(scope, data);
    return { [name]: hash, [`${name}Enc`]: gzip ? "blob+gzip" : "blob" };
  }
  return gzip ? { [name]: packed, [`${name}Enc`]: "gzip" } : { [name]: text };
}

/** The JSON value of a payload written by `encode`. `where` names the record in errors. */
export async function decode(item: Item, name: string, scope: string, blobs: Blobs, where: string): Promise<Json> {
  const path = `${where}.${name}`;
  const raw = item[name];
  const encoding = item[`${name}Enc`];
  if (encoding === undefined) return parse(raw, path);
  if (encoding === "gzip") return parse(unzip(raw, path), path);
  if (encoding !== "blob" && encoding !== "blob+gzip")
    throw new UnreadableRecord(`${path}: unknown encoding ${String(encoding)}`);
  if (typeof raw !== "string") throw new UnreadableRecord(`${path}: the blob reference is not text`);
  const bytes = await blobs.get(scope, raw);
  return parse(encoding === "blob" ? Buffer.from(bytes).toString("utf8") : unzip(bytes, path), path);
}

/** SHA-256 of every blob that an item's payloads refer to. */
export function blobsOf(item: Item): string[] {
  return Object.entries(item).flatMap(([name, value]) =>
    name.endsWith("Enc") && (value === "blob" || value === "blob+gzip") ? [String(item[name.slice(0, -3)])] : [],
  );
}

function unzip(raw: Value | undefined, path: string): string {
  if (!(raw instanceof Uint8Array)) throw new UnreadableRecord(`${path}: expected bytes`);
  try {
    return gunzipSync(raw).toString("utf8");
  } catch (cause) {
    throw new UnreadableRecord(`${path}: the compressed bytes are damaged`, { cause });
  }
}

function parse(raw: Value | undefined, path: string): Json {
  if (typeof raw !== "string")
    throw new UnreadableRecord(`${path}: expected text, found ${raw === undefined ? "nothing" : typeof raw}`);
  try {
    return JSON.parse(raw) as Json;
  } catch (cause) {
    throw new UnreadableRecord(`${path}: not JSON`, { cause });
  }
}

/** Size of an item as DynamoDB counts it: UTF-8 bytes of names and values (Developer Guide, "Item sizes"). */
export function itemBytes(item: Item): number {
  let total = 0;
  for (const [name, value] of Object.entries(item)) {
    if (value !== undefined) total += Buffer.byteLength(name) + valueBytes(value);
  }
  return total;
}

function valueBytes(value: Value): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.byteLength;
  return typeof value === "boolean" ? 1 : 21;
}
