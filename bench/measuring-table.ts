// A Table that counts what DynamoDB would bill for each call (Developer Guide, "Read/write capacity mode" and "Item sizes and
// formats"), in front of any table. On-demand prices are per unit, so units are what a step costs.
import { indexes } from "../lib/adapters/dynamodb-schema.ts";
import type { Item, Key, Table, Value } from "../lib/ports/table.ts";

export type Units = {
  writes: number;
  /** Bytes of the items written, names included. */
  writtenBytes: number;
  /** 1 KB each; those of the indexes included. */
  writeUnits: number;
  reads: number;
  /** 4 KB each for a strong read, half for the look-ups, which are eventual. */
  readUnits: number;
};

export type MeasuringTable = Table & { units(): Units };

export function measureTable(table: Table): MeasuringTable {
  const counted: Units = { writes: 0, writtenBytes: 0, writeUnits: 0, reads: 0, readUnits: 0 };
  const stored = new Map<string, { bytes: number; places: (string | undefined)[] }>();

  function wrote(item: Item): void {
    const bytes = dynamoBytes(item);
    const before = stored.get(nameOf(item));
    const places = placesOf(item);
    stored.set(nameOf(item), { bytes, places });
    bill(Math.max(bytes, before?.bytes ?? 0), bytes);
    for (const [i, place] of places.entries()) billIndex(before?.places[i], place, bytes);
  }

  function billIndex(before: string | undefined, after: string | undefined, bytes: number): void {
    // A moved entry is deleted and written; one that stays where it is, is written once.
    const writes = (before === undefined ? 0 : 1) + (after === undefined || after === before ? 0 : 1);
    counted.writeUnits += writes * writeUnits(bytes);
  }

  function bill(largest: number, written: number): void {
    counted.writes += 1;
    counted.writtenBytes += written;
    counted.writeUnits += writeUnits(largest);
  }

  function read(items: Item[], strong = true): void {
    const bytes = items.reduce((sum, item) => sum + dynamoBytes(item), 0);
    counted.reads += 1;
    counted.readUnits += Math.max(1, Math.ceil(bytes / 4096)) * (strong ? 1 : 0.5);
  }

  return {
    ...table,
    units: () => ({ ...counted }),
    async put(item, condition) {
      const answer = await table.put(item, condition);
      // A refused condition is billed by the item that is there.
      if (answer === "ok") wrote(item);
      else bill(stored.get(nameOf(item))?.bytes ?? 0, 0);
      return answer;
    },
    async get(key) {
      const item = await table.get(key);
      read(item ? [item] : []);
      return item;
    },
    async query(options) {
      const items = await table.query(options);
      read(items);
      return items;
    },
    async update(key, change, equals) {
      const answer = await table.update(key, change, equals);
      if (answer === "refused") bill(stored.get(nameOf(key))?.bytes ?? 0, 0);
      else wrote(answer);
      return answer;
    },
    async remove(key, equals) {
      const answer = await table.remove(key, equals);
      const before = stored.get(nameOf(key));
      bill(before?.bytes ?? 0, 0);
      if (answer === "ok" && stored.delete(nameOf(key))) {
        for (const place of before?.places ?? []) billIndex(place, undefined, before?.bytes ?? 0);
      }
      return answer;
    },
    async due(options) {
      const page = await table.due(options);
      read(page.items, false);
      return page;
    },
    async recent(options) {
      const page = await table.recent(options);
      read(page.items, false);
      return page;
    },
  };
}

/** Size of an item as DynamoDB counts it; a number takes a byte for two digits and one more. */
export function dynamoBytes(item: Item): number {
  return Object.entries(item).reduce(
    (sum, [name, value]) => sum + (value === undefined ? 0 : Buffer.byteLength(name) + valueBytes(value)),
    0,
  );
}

function valueBytes(value: Value): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.byteLength;
  if (typeof value === "boolean") return 1;
  const digits = value.toExponential().replace(/e.*$/, "").replace(/[-.]/g, "").length;
  return Math.ceil(digits / 2) + 1 + (value < 0 ? 1 : 0);
}

function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 1024));
}

function placesOf(item: Item): (string | undefined)[] {
  return Object.values(indexes).map(({ sort }) => {
    const at = item[sort];
    return at === undefined ? undefined : `${sort}=${String(at)}`;
  });
}

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;
