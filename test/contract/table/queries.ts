// Queries: order, bounds and pages.
import { describe, expect, it } from "vitest";
import type { QueryOptions } from "../../../lib/ports/table.ts";
import { type CreateTable, tableUnderTest } from "./table-under-test.ts";

export function queriesContract(name: string, create: CreateTable): void {
  describe(`${name}: queries`, () => {
    const t = tableUnderTest(create);
    const sortKeys = async (options: Omit<QueryOptions, "pk">) =>
      (await t.table.query({ pk: "acme#s1", ...options })).map((item) => item.sk);
    const sk = (n: number) => `V#${String(n).padStart(12, "0")}`;

    it("order versions by their number: 10 after 9 (H14)", async () => {
      for (const n of [10, 2, 9, 100, 1]) await t.table.put({ pk: "acme#s1", sk: sk(n) });
      expect(await sortKeys({})).toStrictEqual([1, 2, 9, 10, 100].map(sk));
      expect(await sortKeys({ reverse: true })).toStrictEqual([100, 10, 9, 2, 1].map(sk));
      expect(await sortKeys({ reverse: true, limit: 1 })).toStrictEqual([sk(100)]);
    });

    it("order sort keys by their UTF-8 bytes", async () => {
      const ordered = [
        "!",
        "A",
        "B",
        "Z",
        "a",
        "aa",
        "a\u0301",
        "b",
        "~",
        "\u007f",
        "é",
        "ſ",
        "漢",
        "\ud7ff",
        "\ue000",
        "\uffee",
        "\u{10000}",
        "\u{1F600}",
        "\u{10FFFF}",
      ];
      for (const text of [...ordered].sort()) await t.table.put({ pk: "acme#s1", sk: text });
      expect(await sortKeys({})).toStrictEqual(ordered);
      expect(await sortKeys({ reverse: true })).toStrictEqual([...ordered].reverse());
      expect(await sortKeys({ after: "\uffee" })).toStrictEqual(["\u{10000}", "\u{1F600}", "\u{10FFFF}"]);
    });

    const all = ["A", "A#1", "A#2", "B", "I#0", "I#1", "I#2", "I#3", "I#\u{10FFFF}", "IX", "STATUS"];
    const cases: [string, Omit<QueryOptions, "pk">, string[]][] = [
      ["a prefix", { prefix: "I#" }, ["I#0", "I#1", "I#2", "I#3", "I#\u{10FFFF}"]],
      ["a prefix, reversed", { prefix: "I#", reverse: true }, ["I#\u{10FFFF}", "I#3", "I#2", "I#1", "I#0"]],
      ["a prefix that is a whole key", { prefix: "A" }, ["A", "A#1", "A#2"]],
      ["a prefix that nothing has", { prefix: "Q" }, []],
      ["an empty prefix", { prefix: "", limit: 2 }, ["A", "A#1"]],
      ["after a key that is there", { after: "I#3" }, ["I#\u{10FFFF}", "IX", "STATUS"]],
      ["after a key that is not there", { after: "C" }, ["I#0", "I#1", "I#2", "I#3", "I#\u{10FFFF}", "IX", "STATUS"]],
      ["after the last", { after: "STATUS" }, []],
      ["before a key, reversed", { after: "B", reverse: true }, ["A#2", "A#1", "A"]],
      ["before the first, reversed", { after: "A", reverse: true }, []],
      ["prefix and after", { prefix: "I#", after: "I#1" }, ["I#2", "I#3", "I#\u{10FFFF}"]],
      ["prefix and before, reversed", { prefix: "I#", after: "I#2", reverse: true }, ["I#1", "I#0"]],
      ["prefix, after and limit", { prefix: "I#", after: "I#0", limit: 2 }, ["I#1", "I#2"]],
      ["prefix, before and limit, reversed", { prefix: "I#", after: "I#3", reverse: true, limit: 2 }, ["I#2", "I#1"]],
      ["after the prefix itself", { prefix: "A", after: "A" }, ["A#1", "A#2"]],
      ["after a key before the prefix", { prefix: "A#", after: "A" }, ["A#1", "A#2"]],
      ["after a key beyond the prefix", { prefix: "A#", after: "B" }, []],
      ["before a key beyond the prefix, reversed", { prefix: "A#", after: "B", reverse: true }, ["A#2", "A#1"]],
      ["before a key before the prefix, reversed", { prefix: "A#", after: "A", reverse: true }, []],
      ["a limit above all", { limit: 1000 }, all],
    ];
    for (const [what, options, expected] of cases) {
      it(`find ${what}`, async () => {
        await t.putAll(all.map((text) => ({ pk: "acme#s1", sk: text })));
        await t.putAll(["I#1", "Z"].map((text) => ({ pk: "acme#s2", sk: text })));
        expect(await sortKeys(options)).toStrictEqual(expected);
      });
    }

    it("follow every page: 2 MB come back whole, in order, both ways", async () => {
      const big = "x".repeat(150_000);
      const numbers = Array.from({ length: 14 }, (_, i) => i + 1);
      for (const n of numbers) await t.table.put({ pk: "acme#s1", sk: sk(n), n, big });
      const read = await t.table.query({ pk: "acme#s1", prefix: "V#" });
      expect(read.map((item) => item.n)).toStrictEqual(numbers);
      expect(read.every((item) => item.big === big)).toBe(true);
      const back = await t.table.query({ pk: "acme#s1", reverse: true, after: sk(14), limit: 12 });
      expect(back.map((item) => item.n)).toStrictEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    });

    it("see every write that was acknowledged", async () => {
      for (let n = 1; n <= 30; n++) {
        await t.table.put({ pk: "acme#s1", sk: sk(n) });
        expect(await sortKeys({ reverse: true, limit: 1 })).toStrictEqual([sk(n)]);
      }
    });
  });
}
