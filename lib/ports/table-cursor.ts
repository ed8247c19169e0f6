// The cursor of `due` and `recent`: where reading stopped in each part of an index. It travels through
// clients, so whatever comes back is checked; it names no partition, so it cannot lead out of the one asked for.
import { InvalidInput } from "../core/errors.ts";
import type { Item } from "./table.ts";

/** The index's own sort value (`due` or `listAt`), then the key of the item. */
export type Position = readonly [at: string | number, pk: string, sk: string];

/** Position of an item in an index sorted by `attribute`. */
export function positionOf(item: Item, attribute: "due" | "listAt"): Position {
  return [item[attribute] ?? (attribute === "due" ? 0 : ""), item.pk, item.sk];
}

/** One position per part of the index; null: nothing was read of it yet. Opaque text, safe in a URL. */
export function writeCursor(positions: (Position | null)[]): string {
  return Buffer.from(JSON.stringify(positions)).toString("base64url");
}

/** The positions of a cursor, or nulls without one. Throws InvalidInput for what writeCursor did not write for `parts` parts. */
export function readCursor(
  cursor: string | undefined,
  attribute: "due" | "listAt",
  parts: number,
): (Position | null)[] {
  if (cursor === undefined) return Array.from({ length: parts }, () => null);
  const positions = parse(cursor);
  if (!Array.isArray(positions) || positions.length !== parts) throw notACursor();
  return positions.map((position: unknown) => {
    if (position === null) return null;
    if (!Array.isArray(position) || position.length !== 3) throw notACursor();
    const [at, pk, sk]: unknown[] = position;
    if (!isSortValue(at, attribute) || typeof pk !== "string" || typeof sk !== "string" || !pk || !sk)
      throw notACursor();
    return [at, pk, sk] as const;
  });
}

function isSortValue(at: unknown, attribute: "due" | "listAt"): at is string | number {
  return attribute === "due" ? Number.isSafeInteger(at) : typeof at === "string" && at !== "";
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    throw notACursor();
  }
}

function notACursor(): Error {
  const message = "not a cursor that an earlier page gave";
  return new InvalidInput(message, { errors: [{ path: "$.cursor", message }] });
}
