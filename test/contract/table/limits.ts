// What no table can keep is refused at the edge, with its path.
import { describe, expect, it } from "vitest";
import { InvalidInput, ItemTooLarge } from "../../../lib/core/errors.ts";
import type { Change, Item, Value } from "../../../lib/ports/table.ts";
import { type CreateTable, key, startMs, startSeconds, tableUnderTest } from "./table-under-test.ts";

export function limitsContract(name: string, create: CreateTable): void {
  describe(`${name}: what cannot be kept`, () => {
    const t = tableUnderTest(create);
    const bad: [string, unknown][] = [
      ["null", null],
      ["NaN", Number.NaN],
      ["Infinity", Number.POSITIVE_INFINITY],
      ["-0", -0],
      ["a number over 2^53 - 1", 2 ** 53],
      ["1e40", 1e40],
      ["a number too small", 1e-200],
      ["a BigInt", 1n],
      ["an array", [1]],
      ["an object", { a: 1 }],
      ["a Set", new Set(["a"])],
      ["a Date", new Date(0)],
      ["a function", () => 1],
      ["half of a surrogate pair", "a\ud800"],
    ];
    for (const [what, value] of bad) {
      it(`${what} is refused with its path and nothing is written (H03)`, async () => {
        const item = { ...key, good: 1, bad: value as Value };
        await expect(t.table.put(item)).rejects.toMatchObject({ name: "InvalidInput", errors: [{ path: "$.bad" }] });
        expect(await t.table.get(key)).toBeNull();
        await t.table.put(key);
        await expect(t.table.update(key, { set: { bad: value as Value } })).rejects.toThrow(InvalidInput);
        await expect(t.table.put(key, { equals: { bad: value as Value } })).rejects.toThrow(InvalidInput);
        await expect(t.table.remove(key, { bad: value as Value })).rejects.toThrow(InvalidInput);
        expect(await t.table.get(key)).toStrictEqual(key);
      });
    }

    it("a ttl in milliseconds is refused: it is seconds (H78)", async () => {
      const path = [{ path: "$.ttl" }];
      await expect(t.table.put({ ...key, ttl: startMs })).rejects.toMatchObject({ name: "InvalidInput", errors: path });
      await t.table.put({ ...key, ttl: startSeconds + 60 });
      await expect(t.table.update(key, { set: { ttl: startMs } })).rejects.toMatchObject({ errors: path });
      expect(await t.table.get(key)).toStrictEqual({ ...key, ttl: startSeconds + 60 });
    });

    it("reserved attributes of another kind are refused", async () => {
      const items = [{ ttl: 1.5 }, { ttl: -1 }, { due: 0.5 }, { list: "" }, { listAt: "" }];
      for (const part of items) await expect(t.table.put({ ...key, ...part })).rejects.toThrow(InvalidInput);
      const odd: Record<string, Value>[] = [{ ttl: "1" }, { due: "1" }, { list: 1 }, { listAt: 1 }, { dueShard: "1" }];
      for (const part of odd) await expect(t.table.put({ ...key, ...part } as Item)).rejects.toThrow(InvalidInput);
    });

    it("keys that are empty, too long or no text are refused everywhere", async () => {
      const keys = [
        { pk: "", sk: "a" },
        { pk: "a", sk: "" },
        { pk: "x".repeat(2049), sk: "a" },
        { pk: "a", sk: "é".repeat(513) },
        { pk: "a", sk: "\udc00" },
        { pk: 1 as unknown as string, sk: "a" },
      ];
      for (const wrong of keys) {
        await expect(t.table.put(wrong)).rejects.toThrow(InvalidInput);
        await expect(t.table.get(wrong)).rejects.toThrow(InvalidInput);
        await expect(t.table.update(wrong, { set: { a: 1 } })).rejects.toThrow(InvalidInput);
        await expect(t.table.remove(wrong)).rejects.toThrow(InvalidInput);
      }
      await expect(t.table.query({ pk: "" })).rejects.toThrow(InvalidInput);
    });

    it("the longest keys are taken", async () => {
      const item = { pk: "é".repeat(1024), sk: "é".repeat(512) };
      await t.table.put(item);
      expect(await t.table.get(item)).toStrictEqual(item);
    });

    it("an item over 400 KB is ItemTooLarge, by put and by update, and nothing changes (H01)", async () => {
      const half = "x".repeat(200 * 1024);
      await t.table.put({ ...key, a: half });
      await expect(t.table.put({ ...key, a: "é".repeat(200 * 1024) })).rejects.toThrow(ItemTooLarge);
      await expect(t.table.update(key, { set: { b: half } })).rejects.toThrow(ItemTooLarge);
      expect(await t.table.get(key)).toStrictEqual({ ...key, a: half });
    });

    it("changes that contradict themselves or touch the key are refused", async () => {
      await t.table.put({ ...key, a: 1 });
      const changes: Change[] = [
        { set: { a: 1 }, remove: ["a"] },
        { set: { a: 1 }, add: { a: 1 } },
        { set: { sk: "other" } },
        { remove: ["pk"] },
        { remove: [""] },
        { add: { a: 0.5 } },
        { add: { ttl: 1 } },
      ];
      for (const change of changes) await expect(t.table.update(key, change)).rejects.toThrow(InvalidInput);
      expect(await t.table.get(key)).toStrictEqual({ ...key, a: 1 });
    });

    it("a condition that is none is refused", async () => {
      for (const wrong of [{}, { absent: false }, { absent: true, equals: {} }, { exists: true }]) {
        await expect(t.table.put(key, wrong as unknown as { absent: true })).rejects.toThrow(InvalidInput);
      }
      expect(await t.table.get(key)).toBeNull();
    });

    it("limits and cursors that are none are refused", async () => {
      for (const limit of [0, -1, 1.5, Number.NaN]) {
        await expect(t.table.query({ pk: "a", limit })).rejects.toThrow(InvalidInput);
        await expect(t.table.due({ before: 1, limit })).rejects.toThrow(InvalidInput);
        await expect(t.table.recent({ list: "a", limit })).rejects.toThrow(InvalidInput);
      }
      for (const cursor of ["", "x", "%%%", "bnVsbA", "W10", "W1sxLCJhIl1d", "W1sxLDIsM11d"]) {
        await expect(t.table.due({ before: 1, cursor })).rejects.toThrow(InvalidInput);
        await expect(t.table.recent({ list: "a", cursor })).rejects.toThrow(InvalidInput);
      }
    });
  });
}
