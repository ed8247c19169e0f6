// From the second of its ttl on an item is absent for everything.
import { describe, expect, it } from "vitest";
import type { Item, QueryOptions } from "../../../lib/ports/table.ts";
import { type CreateTable, key, startMs, startSeconds, tableUnderTest } from "./table-under-test.ts";

export function expiryContract(name: string, create: CreateTable): void {
  describe(`${name}: expiry`, () => {
    const t = tableUnderTest(create);
    const sortKeys = async (options: Omit<QueryOptions, "pk">) =>
      (await t.table.query({ pk: "acme#s1", ...options })).map((item) => item.sk);
    const ttl = startSeconds + 60;
    const item: Item = { ...key, a: 1, ttl, due: 1, list: "l", listAt: "1" };

    const seen = async () => ({
      get: await t.table.get(key),
      query: await t.table.query({ pk: key.pk }),
      newest: await t.table.query({ pk: key.pk, reverse: true, limit: 1 }),
      due: (await t.table.due({ before: startMs })).items,
      recent: (await t.table.recent({ list: "l" })).items,
    });

    it("one second before its ttl an item is there for everything (H78)", async () => {
      await t.table.put(item);
      t.nowMs = (ttl - 1) * 1000;
      t.nowMs += 999;
      const all = [item];
      expect(await seen()).toStrictEqual({ get: item, query: all, newest: all, due: all, recent: all });
      expect(await t.table.put(item, { absent: true })).toBe("refused");
      expect(await t.table.remove(key, { a: 2 })).toBe("refused");
      expect(await t.table.put({ ...item, a: 2 }, { equals: { a: 1 } })).toBe("ok");
      expect(await t.table.update(key, { set: { a: 3 } })).toStrictEqual({ ...item, a: 3 });
    });

    for (const late of [0, 1, 3 * 24 * 3600]) {
      const when = `${late} s after its ttl`;
      it(`${when} an item is absent for every read (H78)`, async () => {
        await t.table.put(item);
        t.nowMs = (ttl + late) * 1000;
        expect(await seen()).toStrictEqual({ get: null, query: [], newest: [], due: [], recent: [] });
      });

      it(`${when} an item is absent for an update, which does not revive it (H78)`, async () => {
        await t.table.put(item);
        t.nowMs = (ttl + late) * 1000;
        expect(await t.table.update(key, { set: { ttl: ttl + 1_000_000 } })).toBe("refused");
        expect(await t.table.update(key, { add: { a: 1 } }, { a: 1 })).toBe("refused");
        expect(await t.table.get(key)).toBeNull();
      });

      it(`${when} an item is absent for conditions of puts (H78)`, async () => {
        await t.table.put(item);
        t.nowMs = (ttl + late) * 1000;
        expect(await t.table.put({ ...key, b: 1 }, { equals: { a: 1 } })).toBe("refused");
        expect(await t.table.put({ ...key, b: 1 }, { equals: {} })).toBe("refused");
        expect(await t.table.put({ ...key, b: 1 }, { absent: true })).toBe("ok");
        expect(await t.table.get(key)).toStrictEqual({ ...key, b: 1 });
      });

      it(`${when} an item is absent for conditions of a removal (H78)`, async () => {
        await t.table.put(item);
        t.nowMs = (ttl + late) * 1000;
        expect(await t.table.remove(key, { a: 2 })).toBe("ok");
      });
    }

    it("exactly one of 20 at once takes the place of an expired item", async () => {
      await t.table.put(item);
      t.nowMs = ttl * 1000;
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, writer) => t.table.put({ ...key, writer }, { absent: true })),
      );
      expect(answers.filter((answer) => answer === "ok")).toHaveLength(1);
    });

    it("expired items do not take places of a limit", async () => {
      for (let n = 10; n < 30; n++) {
        const expires = n % 2 === 0 ? { ttl } : {};
        await t.table.put({ pk: key.pk, sk: `I#${n}`, due: n, list: "l", listAt: `${n}`, ...expires });
      }
      t.nowMs = ttl * 1000;
      const odd = [11, 13, 15, 17, 19, 21, 23];
      expect(await sortKeys({ limit: 7 })).toStrictEqual(odd.map((n) => `I#${n}`));
      expect((await t.table.due({ before: startMs, limit: 7 })).items.map((i) => i.due)).toStrictEqual(odd);
      const newest = (await t.table.recent({ list: "l", limit: 3 })).items.map((i) => i.listAt);
      expect(newest).toStrictEqual(["29", "27", "25"]);
    });

    it("an item without ttl stays", async () => {
      await t.table.put(key);
      t.nowMs = (startSeconds + 100 * 365 * 86400) * 1000;
      expect(await t.table.get(key)).toStrictEqual(key);
    });
  });
}
