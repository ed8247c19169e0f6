// Stored records carry `format`. An older one is brought up to date on read, one function per version;
// a newer one is refused, untouched. Golden files of every release are in test/golden.
import { UnknownFormat } from "../core/errors.ts";
import type { Item } from "../ports/table.ts";

/** What this release writes. */
export const currentFormat = 1;

/** `upcasts[n]` turns a record of format n into format n + 1. Empty until the first change of format. */
const upcasts: Record<number, (item: Item) => Item> = {};

/** The record in the current format; throws `UnknownFormat` for one of a newer release. */
export function upcast(item: Item, where: string): Item {
  const format = item.format;
  if (typeof format !== "number" || !Number.isInteger(format) || format < 1) {
    throw new UnknownFormat(`${where}: the record has no format number`);
  }
  if (format > currentFormat) {
    throw new UnknownFormat(`${where}: format ${format} is of a newer release; this one reads up to ${currentFormat}`);
  }
  let current = item;
  for (let version = format; version < currentFormat; version++) {
    const step = upcasts[version];
    if (!step) throw new UnknownFormat(`${where}: no way from format ${version} to ${version + 1}`);
    current = step(current);
  }
  return current;
}
