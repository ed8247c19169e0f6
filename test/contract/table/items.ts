// What is stored comes back equal.
import { describe, expect, it } from "vitest";
import type { Item, Value } from "../../../lib/ports/table.ts";
import { type CreateTable, key, startMs, startSeconds, tableUnderTest } from "./table-under-test.ts";

export function itemsContract(name: string, create: CreateTable): void {
  describe(`${name}: items`, () => {
    const t = tableUnderTest(create);
    const values: Record<string, Value> = {
      emptyText: "",
      newline: "a\r\nb\tc",
      zero: 0,
      negative: -17,
      largest: Number.MAX_SAFE_INTEGER,
      smallest: Number.MIN_SAFE_INTEGER,
      fraction: 0.1 + 0.2,
      tiny: 1.5e-100,
      no: false,
      yes: true,
      nul: "a\u0000b",
      text: 'žluťoučký 漢字 한글 \u{1F600} "quoted" \\ #:',
      json: '{"bytes":"AAAA"}',
      bytes: Uint8Array.from({ length: 256 }, (_, i) => i),
      emptyBytes: new Uint8Array(0),
      "odd name #1.x[0]": "y",
      size: 1,
      constructor: "not a function",
    };

    it("come back equal, whatever their values (H03)", async () => {
      const item: Item = { ...key, ...values, ttl: startSeconds + 60, due: startMs, list: "acme", listAt: "0001" };
      expect(await t.table.put(item)).toBe("ok");
      expect(await t.table.get(key)).toStrictEqual(item);
      expect(await t.table.query({ pk: key.pk })).toStrictEqual([item]);
      expect((await t.table.due({ before: startMs })).items).toStrictEqual([item]);
      expect((await t.table.recent({ list: "acme" })).items).toStrictEqual([item]);
      expect(await t.table.update(key, {})).toStrictEqual(item);
    });

    it("come back equal after an update set the same values (H03)", async () => {
      await t.table.put(key);
      expect(await t.table.update(key, { set: values })).toStrictEqual({ ...key, ...values });
      expect(await t.table.get(key)).toStrictEqual({ ...key, ...values });
    });

    it("hold 390 KB of text that takes three bytes a character", async () => {
      const item = { ...key, text: "漢".repeat(130 * 1024) };
      await t.table.put(item);
      expect(await t.table.get(key)).toStrictEqual(item);
    });

    it("are null where there is none", async () => {
      expect(await t.table.get(key)).toBeNull();
      expect(await t.table.query({ pk: key.pk })).toStrictEqual([]);
    });

    it("are told apart by both parts of the key", async () => {
      const items = [
        { pk: "a", sk: "bc", n: 1 },
        { pk: "ab", sk: "c", n: 2 },
        { pk: "a", sk: "b", n: 3 },
        { pk: "A", sk: "b", n: 4 },
      ];
      await t.putAll(items);
      expect(await Promise.all(items.map((item) => t.table.get(item)))).toStrictEqual(items);
    });

    it("leave out attributes that are undefined", async () => {
      await t.table.put({ ...key, a: undefined, ttl: undefined, b: 1 });
      expect(await t.table.get(key)).toStrictEqual({ ...key, b: 1 });
    });

    it("are replaced whole by a put", async () => {
      await t.table.put({ ...key, a: 1, due: 5, list: "l", listAt: "1", ttl: startSeconds + 9 });
      await t.table.put({ ...key, b: 2 });
      expect(await t.table.get(key)).toStrictEqual({ ...key, b: 2 });
      expect(await t.table.due({ before: startMs })).toStrictEqual({ items: [] });
      expect(await t.table.recent({ list: "l" })).toStrictEqual({ items: [] });
    });

    it("share nothing with what was given or answered", async () => {
      const bytes = Uint8Array.of(1, 2, 3);
      const item: Item = { ...key, bytes, a: 1 };
      await t.table.put(item);
      bytes[0] = 9;
      item.a = 2;
      const read = await t.table.get(key);
      if (read?.bytes instanceof Uint8Array) read.bytes[1] = 9;
      expect(await t.table.get(key)).toStrictEqual({ ...key, bytes: Uint8Array.of(1, 2, 3), a: 1 });
    });
  });
}
