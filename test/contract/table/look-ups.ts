// The sweeper's and the listing's look-ups: order, pages and cursors.
import { describe, expect, it } from "vitest";
import type { Item, Page } from "../../../lib/ports/table.ts";
import { type CreateTable, tableUnderTest } from "./table-under-test.ts";

export function lookUpsContract(name: string, create: CreateTable): void {
  describe(`${name}: look-ups`, () => {
    const t = tableUnderTest(create);
    async function pagesOf(look: (cursor?: string) => Promise<Page>): Promise<Item[][]> {
      const pages: Item[][] = [];
      let cursor: string | undefined;
      do {
        const page = await look(cursor);
        pages.push(page.items);
        cursor = page.cursor;
      } while (cursor !== undefined);
      return pages;
    }

    const dueItems = Array.from({ length: 23 }, (_, i) => ({
      pk: `t${i % 3}#s${(i * 7) % 23}`,
      sk: "STATUS",
      due: 1000 + i * 10,
    }));

    it("due: all tenants, earliest first, up to and with `before`", async () => {
      await t.putAll([...dueItems].reverse());
      await t.table.put({ pk: "t1#x", sk: "STATUS" });
      const found = await t.table.due({ before: 1100 });
      expect(found).toStrictEqual({ items: dueItems.slice(0, 11) });
      expect(await t.table.due({ before: 999 })).toStrictEqual({ items: [] });
    });

    for (const limit of [1, 2, 5, 22, 23, 24]) {
      it(`due: pages of ${limit} give each item once, in order`, async () => {
        await t.putAll(dueItems);
        const pages = await pagesOf((cursor) => t.table.due({ before: 1220, limit, ...(cursor ? { cursor } : {}) }));
        expect(pages.flat()).toStrictEqual(dueItems);
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      });
    }

    it("due: items of the same time are each given once over pages", async () => {
      const items = Array.from({ length: 17 }, (_, i) => ({ pk: `t#s${i % 5}`, sk: `A#${i}`, due: 7 }));
      await t.putAll(items);
      const pages = await pagesOf((cursor) => t.table.due({ before: 7, limit: 4, ...(cursor ? { cursor } : {}) }));
      const names = pages.flat().map((item) => item.sk);
      expect(names.sort()).toStrictEqual(items.map((item) => item.sk).sort());
    });

    it("due: goes on after a cursor although what was read is gone by then", async () => {
      await t.putAll(dueItems);
      const first = await t.table.due({ before: 1220, limit: 10 });
      for (const item of first.items) await t.table.update(item, { set: { due: 9999 } });
      const rest = await t.table.due({ before: 1220, limit: 100, ...(first.cursor ? { cursor: first.cursor } : {}) });
      expect(rest).toStrictEqual({ items: dueItems.slice(10) });
    });

    it("due: a cursor beyond an earlier `before` finds nothing", async () => {
      await t.putAll(dueItems);
      const { cursor } = await t.table.due({ before: 1220, limit: 22 });
      expect(cursor).toBeTypeOf("string");
      expect(await t.table.due({ before: 1000, cursor })).toStrictEqual({ items: [] });
    });

    const listItems = Array.from({ length: 12 }, (_, i) => ({
      pk: `acme#s${i}`,
      sk: "STATUS",
      list: "acme#sessions",
      listAt: `${String(500 - i * 3).padStart(6, "0")}#s${i}`,
      title: `session ${i}`,
    }));

    it("recent: one list only, highest first", async () => {
      await t.putAll([...listItems].reverse());
      await t.table.put({ pk: "evil#s", sk: "STATUS", list: "evil#sessions", listAt: "999999" });
      await t.table.put({ pk: "acme#y", sk: "STATUS", list: "acme#sessions" });
      expect(await t.table.recent({ list: "acme#sessions" })).toStrictEqual({ items: listItems });
      expect(await t.table.recent({ list: "nobody" })).toStrictEqual({ items: [] });
    });

    for (const limit of [1, 5, 12, 13]) {
      it(`recent: pages of ${limit} give each item once, in order`, async () => {
        await t.putAll(listItems);
        const list = "acme#sessions";
        const pages = await pagesOf((cursor) => t.table.recent({ list, limit, ...(cursor ? { cursor } : {}) }));
        expect(pages.flat()).toStrictEqual(listItems);
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      });
    }

    it("recent: a cursor of one list shows nothing of it in another (G6)", async () => {
      await t.putAll(listItems);
      await t.table.put({ pk: "evil#s", sk: "STATUS", list: "evil#sessions", listAt: "000001" });
      const { cursor } = await t.table.recent({ list: "acme#sessions", limit: 2 });
      const found = await t.table.recent({ list: "evil#sessions", ...(cursor ? { cursor } : {}) });
      expect(found.items.map((item) => item.pk)).toStrictEqual(["evil#s"]);
    });

    it("recent: orders text that is not ASCII by its UTF-8 bytes", async () => {
      const ordered = ["\u{1F600}", "\uffee", "漢", "é", "a"];
      for (const [i, listAt] of ordered.entries()) await t.table.put({ pk: `p${i}`, sk: "S", list: "l", listAt });
      const pages = await pagesOf((cursor) => t.table.recent({ list: "l", limit: 2, ...(cursor ? { cursor } : {}) }));
      expect(pages.flat().map((item) => item.listAt)).toStrictEqual(ordered);
    });
  });
}
