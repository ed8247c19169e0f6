// Conditions hold or are refused; changes are whole.
import { describe, expect, it } from "vitest";
import { InvalidInput } from "../../../lib/core/errors.ts";
import type { Item, Value } from "../../../lib/ports/table.ts";
import { type CreateTable, key, startMs, tableUnderTest } from "./table-under-test.ts";

export function writesContract(name: string, create: CreateTable): void {
  describe(`${name}: conditional puts`, () => {
    const t = tableUnderTest(create);
    it("absent: the first wins, the second is refused and changes nothing (G4, H09)", async () => {
      expect(await t.table.put({ ...key, writer: "a" }, { absent: true })).toBe("ok");
      expect(await t.table.put({ ...key, writer: "b" }, { absent: true })).toBe("refused");
      expect(await t.table.get(key)).toStrictEqual({ ...key, writer: "a" });
    });

    it("absent: exactly one of 20 at once wins, and its item stands (G4, H12)", async () => {
      const writers = Array.from({ length: 20 }, (_, writer) => writer);
      const answers = await Promise.all(writers.map((writer) => t.table.put({ ...key, writer }, { absent: true })));
      expect(answers.filter((answer) => answer === "ok")).toHaveLength(1);
      expect(await t.table.get(key)).toStrictEqual({ ...key, writer: answers.indexOf("ok") });
    });

    it("equals: exactly one of 20 at once moves a pointer", async () => {
      await t.table.put({ ...key, to: "start" });
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, to) => t.table.put({ ...key, to: `${to}` }, { equals: { to: "start" } })),
      );
      expect(answers.filter((answer) => answer === "ok")).toHaveLength(1);
      expect(await t.table.get(key)).toStrictEqual({ ...key, to: `${answers.indexOf("ok")}` });
    });

    const stored: Item = { ...key, text: "a", empty: "", n: 1, zero: 0, no: false, bytes: Uint8Array.of(1, 2) };
    const cases: [string, Record<string, Value | undefined>, "ok" | "refused"][] = [
      ["nothing at all", {}, "ok"],
      ["all the same", { text: "a", empty: "", n: 1, zero: 0, no: false, bytes: Uint8Array.of(1, 2) }, "ok"],
      ["another text", { text: "b" }, "refused"],
      ["one of two differs", { text: "a", n: 2 }, "refused"],
      ["text for a number", { n: "1" }, "refused"],
      ["false for 0", { zero: false }, "refused"],
      ["empty text for false", { no: "" }, "refused"],
      ["other bytes", { bytes: Uint8Array.of(1, 3) }, "refused"],
      ["fewer bytes", { bytes: Uint8Array.of(1) }, "refused"],
      ["a missing attribute as missing", { other: undefined }, "ok"],
      ["a present one as missing", { empty: undefined }, "refused"],
      ["a missing one as present", { other: "" }, "refused"],
      ["no ttl", { ttl: undefined }, "ok"],
    ];
    for (const [what, equals, answer] of cases) {
      it(`equals: ${what} is ${answer}, for put, update and remove alike`, async () => {
        await t.table.put(stored);
        const updated = await t.table.update(key, { set: { seen: 1 } }, equals);
        expect(updated).toStrictEqual(answer === "ok" ? { ...stored, seen: 1 } : "refused");
        expect(await t.table.put(stored, { equals })).toBe(answer);
        expect(await t.table.get(key)).toStrictEqual(stored);
        expect(await t.table.remove(key, equals)).toBe(answer);
        expect(await t.table.get(key)).toStrictEqual(answer === "ok" ? null : stored);
      });
    }

    it("equals: refused where there is no item, even for attributes that are to be missing", async () => {
      expect(await t.table.put(key, { equals: {} })).toBe("refused");
      expect(await t.table.put(key, { equals: { a: undefined } })).toBe("refused");
      expect(await t.table.get(key)).toBeNull();
    });
  });

  describe(`${name}: updates`, () => {
    const t = tableUnderTest(create);
    it("never make an item (H78)", async () => {
      expect(await t.table.update(key, { set: { a: 1 }, add: { n: 1 } })).toBe("refused");
      expect(await t.table.update(key, {}, {})).toBe("refused");
      expect(await t.table.get(key)).toBeNull();
    });

    it("set, remove and add at once and answer the item after", async () => {
      await t.table.put({ ...key, a: 1, b: 2, c: 3, d: "kept" });
      const after = { ...key, a: "new", c: 8, e: -4, d: "kept" };
      expect(
        await t.table.update(key, { set: { a: "new" }, remove: ["b", "absent"], add: { c: 5, e: -4 } }),
      ).toStrictEqual(after);
      expect(await t.table.get(key)).toStrictEqual(after);
    });

    it("lose no addition of 20 at once", async () => {
      await t.table.put(key);
      const adds = Array.from({ length: 20 }, () => t.table.update(key, { add: { spent: 3 } }));
      const seen = (await Promise.all(adds)).map((item) => (item === "refused" ? item : item.spent));
      expect(seen.sort((a, b) => Number(a) - Number(b))).toStrictEqual(
        Array.from({ length: 20 }, (_, i) => 3 * (i + 1)),
      );
      expect(await t.table.get(key)).toStrictEqual({ ...key, spent: 60 });
    });

    it("refuse to add to what is no number, and change nothing", async () => {
      await t.table.put({ ...key, a: "text" });
      await expect(t.table.update(key, { set: { b: 1 }, add: { a: 1 } })).rejects.toThrow(InvalidInput);
      expect(await t.table.get(key)).toStrictEqual({ ...key, a: "text" });
    });

    it("move items into, within and out of the look-ups", async () => {
      await t.table.put(key);
      const dueNow = async () => (await t.table.due({ before: startMs })).items.map((item) => item.due);
      const listed = async () => (await t.table.recent({ list: "l" })).items.map((item) => item.listAt);
      await t.table.update(key, { set: { due: 10, list: "l", listAt: "1" } });
      expect([await dueNow(), await listed()]).toStrictEqual([[10], ["1"]]);
      await t.table.update(key, { set: { due: 20, listAt: "2" } });
      expect([await dueNow(), await listed()]).toStrictEqual([[20], ["2"]]);
      expect(await t.table.update(key, { remove: ["due", "listAt"] })).toStrictEqual({ ...key, list: "l" });
      expect([await dueNow(), await listed()]).toStrictEqual([[], []]);
    });
  });

  describe(`${name}: removing`, () => {
    const t = tableUnderTest(create);
    it("takes the item out of reads and look-ups", async () => {
      await t.table.put({ ...key, due: 1, list: "l", listAt: "1" });
      expect(await t.table.remove(key)).toBe("ok");
      expect(await t.table.get(key)).toBeNull();
      expect(await t.table.query({ pk: key.pk })).toStrictEqual([]);
      expect(await t.table.due({ before: startMs })).toStrictEqual({ items: [] });
      expect(await t.table.recent({ list: "l" })).toStrictEqual({ items: [] });
    });

    it("what is not there is ok, with a condition too", async () => {
      expect(await t.table.remove(key)).toBe("ok");
      expect(await t.table.remove(key, { a: 1 })).toBe("ok");
      await t.table.put(key);
      expect(await t.table.remove({ ...key, sk: "other" })).toBe("ok");
      expect(await t.table.get(key)).toStrictEqual(key);
    });
  });
}
