// What every Table must do, in one place; run without skips on each adapter. `create` gives an empty table
// that tells the time by `now`; it is closed after each test.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { InvalidInput, ItemTooLarge } from "../../lib/core/errors.ts";
import type { Change, Item, Page, Table, Value } from "../../lib/ports/table.ts";

export type CreateTable = (options: { now: () => number }) => Promise<Table>;

const startMs = Date.UTC(2026, 10, 30, 12, 0, 0);
const startSeconds = startMs / 1000;
const key = { pk: "acme#s1", sk: "V#000000000001" };

export function tableContract(name: string, create: CreateTable): void {
  let table: Table;
  let nowMs: number;
  const setSeconds = (seconds: number) => {
    nowMs = seconds * 1000;
  };

  beforeEach(async () => {
    nowMs = startMs;
    table = await create({ now: () => nowMs });
  });
  afterEach(() => table.close());

  const putAll = async (items: Item[]) => {
    for (const item of items) await table.put(item);
  };
  const sortKeys = async (options: Omit<Parameters<Table["query"]>[0], "pk">) =>
    (await table.query({ pk: "acme#s1", ...options })).map((item) => item.sk);

  describe(`${name}: items`, () => {
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
      expect(await table.put(item)).toBe("ok");
      expect(await table.get(key)).toStrictEqual(item);
      expect(await table.query({ pk: key.pk })).toStrictEqual([item]);
      expect((await table.due({ before: startMs })).items).toStrictEqual([item]);
      expect((await table.recent({ list: "acme" })).items).toStrictEqual([item]);
      expect(await table.update(key, {})).toStrictEqual(item);
    });

    it("come back equal after an update set the same values (H03)", async () => {
      await table.put(key);
      expect(await table.update(key, { set: values })).toStrictEqual({ ...key, ...values });
      expect(await table.get(key)).toStrictEqual({ ...key, ...values });
    });

    it("hold 390 KB of text that takes three bytes a character", async () => {
      const item = { ...key, text: "漢".repeat(130 * 1024) };
      await table.put(item);
      expect(await table.get(key)).toStrictEqual(item);
    });

    it("are null where there is none", async () => {
      expect(await table.get(key)).toBeNull();
      expect(await table.query({ pk: key.pk })).toStrictEqual([]);
    });

    it("are told apart by both parts of the key", async () => {
      const items = [
        { pk: "a", sk: "bc", n: 1 },
        { pk: "ab", sk: "c", n: 2 },
        { pk: "a", sk: "b", n: 3 },
        { pk: "A", sk: "b", n: 4 },
      ];
      await putAll(items);
      expect(await Promise.all(items.map((item) => table.get(item)))).toStrictEqual(items);
    });

    it("leave out attributes that are undefined", async () => {
      await table.put({ ...key, a: undefined, ttl: undefined, b: 1 });
      expect(await table.get(key)).toStrictEqual({ ...key, b: 1 });
    });

    it("are replaced whole by a put", async () => {
      await table.put({ ...key, a: 1, due: 5, list: "l", listAt: "1", ttl: startSeconds + 9 });
      await table.put({ ...key, b: 2 });
      expect(await table.get(key)).toStrictEqual({ ...key, b: 2 });
      expect(await table.due({ before: startMs })).toStrictEqual({ items: [] });
      expect(await table.recent({ list: "l" })).toStrictEqual({ items: [] });
    });

    it("share nothing with what was given or answered", async () => {
      const bytes = Uint8Array.of(1, 2, 3);
      const item: Item = { ...key, bytes, a: 1 };
      await table.put(item);
      bytes[0] = 9;
      item.a = 2;
      const read = await table.get(key);
      if (read?.bytes instanceof Uint8Array) read.bytes[1] = 9;
      expect(await table.get(key)).toStrictEqual({ ...key, bytes: Uint8Array.of(1, 2, 3), a: 1 });
    });
  });

  describe(`${name}: what cannot be kept`, () => {
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
        await expect(table.put(item)).rejects.toMatchObject({ name: "InvalidInput", errors: [{ path: "$.bad" }] });
        expect(await table.get(key)).toBeNull();
        await table.put(key);
        await expect(table.update(key, { set: { bad: value as Value } })).rejects.toThrow(InvalidInput);
        await expect(table.put(key, { equals: { bad: value as Value } })).rejects.toThrow(InvalidInput);
        await expect(table.remove(key, { bad: value as Value })).rejects.toThrow(InvalidInput);
        expect(await table.get(key)).toStrictEqual(key);
      });
    }

    it("a ttl in milliseconds is refused: it is seconds (H78)", async () => {
      const path = [{ path: "$.ttl" }];
      await expect(table.put({ ...key, ttl: startMs })).rejects.toMatchObject({ name: "InvalidInput", errors: path });
      await table.put({ ...key, ttl: startSeconds + 60 });
      await expect(table.update(key, { set: { ttl: startMs } })).rejects.toMatchObject({ errors: path });
      expect(await table.get(key)).toStrictEqual({ ...key, ttl: startSeconds + 60 });
    });

    it("reserved attributes of another kind are refused", async () => {
      const items = [{ ttl: 1.5 }, { ttl: -1 }, { due: 0.5 }, { list: "" }, { listAt: "" }];
      for (const part of items) await expect(table.put({ ...key, ...part })).rejects.toThrow(InvalidInput);
      const odd: Record<string, Value>[] = [{ ttl: "1" }, { due: "1" }, { list: 1 }, { listAt: 1 }, { dueShard: "1" }];
      for (const part of odd) await expect(table.put({ ...key, ...part } as Item)).rejects.toThrow(InvalidInput);
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
        await expect(table.put(wrong)).rejects.toThrow(InvalidInput);
        await expect(table.get(wrong)).rejects.toThrow(InvalidInput);
        await expect(table.update(wrong, { set: { a: 1 } })).rejects.toThrow(InvalidInput);
        await expect(table.remove(wrong)).rejects.toThrow(InvalidInput);
      }
      await expect(table.query({ pk: "" })).rejects.toThrow(InvalidInput);
    });

    it("the longest keys are taken", async () => {
      const item = { pk: "é".repeat(1024), sk: "é".repeat(512) };
      await table.put(item);
      expect(await table.get(item)).toStrictEqual(item);
    });

    it("an item over 400 KB is ItemTooLarge, by put and by update, and nothing changes (H01)", async () => {
      const half = "x".repeat(200 * 1024);
      await table.put({ ...key, a: half });
      await expect(table.put({ ...key, a: "é".repeat(200 * 1024) })).rejects.toThrow(ItemTooLarge);
      await expect(table.update(key, { set: { b: half } })).rejects.toThrow(ItemTooLarge);
      expect(await table.get(key)).toStrictEqual({ ...key, a: half });
    });

    it("changes that contradict themselves or touch the key are refused", async () => {
      await table.put({ ...key, a: 1 });
      const changes: Change[] = [
        { set: { a: 1 }, remove: ["a"] },
        { set: { a: 1 }, add: { a: 1 } },
        { set: { sk: "other" } },
        { remove: ["pk"] },
        { remove: [""] },
        { add: { a: 0.5 } },
        { add: { ttl: 1 } },
      ];
      for (const change of changes) await expect(table.update(key, change)).rejects.toThrow(InvalidInput);
      expect(await table.get(key)).toStrictEqual({ ...key, a: 1 });
    });

    it("a condition that is none is refused", async () => {
      for (const wrong of [{}, { absent: false }, { absent: true, equals: {} }, { exists: true }]) {
        await expect(table.put(key, wrong as unknown as { absent: true })).rejects.toThrow(InvalidInput);
      }
      expect(await table.get(key)).toBeNull();
    });

    it("limits and cursors that are none are refused", async () => {
      for (const limit of [0, -1, 1.5, Number.NaN]) {
        await expect(table.query({ pk: "a", limit })).rejects.toThrow(InvalidInput);
        await expect(table.due({ before: 1, limit })).rejects.toThrow(InvalidInput);
        await expect(table.recent({ list: "a", limit })).rejects.toThrow(InvalidInput);
      }
      for (const cursor of ["", "x", "%%%", "bnVsbA", "W10", "W1sxLCJhIl1d", "W1sxLDIsM11d"]) {
        await expect(table.due({ before: 1, cursor })).rejects.toThrow(InvalidInput);
        await expect(table.recent({ list: "a", cursor })).rejects.toThrow(InvalidInput);
      }
    });
  });

  describe(`${name}: conditional puts`, () => {
    it("absent: the first wins, the second is refused and changes nothing (G4, H09)", async () => {
      expect(await table.put({ ...key, writer: "a" }, { absent: true })).toBe("ok");
      expect(await table.put({ ...key, writer: "b" }, { absent: true })).toBe("refused");
      expect(await table.get(key)).toStrictEqual({ ...key, writer: "a" });
    });

    it("absent: exactly one of 20 at once wins, and its item stands (G4, H12)", async () => {
      const writers = Array.from({ length: 20 }, (_, writer) => writer);
      const answers = await Promise.all(writers.map((writer) => table.put({ ...key, writer }, { absent: true })));
      expect(answers.filter((answer) => answer === "ok")).toHaveLength(1);
      expect(await table.get(key)).toStrictEqual({ ...key, writer: answers.indexOf("ok") });
    });

    it("equals: exactly one of 20 at once moves a pointer", async () => {
      await table.put({ ...key, to: "start" });
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, to) => table.put({ ...key, to: `${to}` }, { equals: { to: "start" } })),
      );
      expect(answers.filter((answer) => answer === "ok")).toHaveLength(1);
      expect(await table.get(key)).toStrictEqual({ ...key, to: `${answers.indexOf("ok")}` });
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
        await table.put(stored);
        const updated = await table.update(key, { set: { seen: 1 } }, equals);
        expect(updated).toStrictEqual(answer === "ok" ? { ...stored, seen: 1 } : "refused");
        expect(await table.put(stored, { equals })).toBe(answer);
        expect(await table.get(key)).toStrictEqual(stored);
        expect(await table.remove(key, equals)).toBe(answer);
        expect(await table.get(key)).toStrictEqual(answer === "ok" ? null : stored);
      });
    }

    it("equals: refused where there is no item, even for attributes that are to be missing", async () => {
      expect(await table.put(key, { equals: {} })).toBe("refused");
      expect(await table.put(key, { equals: { a: undefined } })).toBe("refused");
      expect(await table.get(key)).toBeNull();
    });
  });

  describe(`${name}: updates`, () => {
    it("never make an item (H78)", async () => {
      expect(await table.update(key, { set: { a: 1 }, add: { n: 1 } })).toBe("refused");
      expect(await table.update(key, {}, {})).toBe("refused");
      expect(await table.get(key)).toBeNull();
    });

    it("set, remove and add at once and answer the item after", async () => {
      await table.put({ ...key, a: 1, b: 2, c: 3, d: "kept" });
      const after = { ...key, a: "new", c: 8, e: -4, d: "kept" };
      expect(
        await table.update(key, { set: { a: "new" }, remove: ["b", "absent"], add: { c: 5, e: -4 } }),
      ).toStrictEqual(after);
      expect(await table.get(key)).toStrictEqual(after);
    });

    it("lose no addition of 20 at once", async () => {
      await table.put(key);
      const adds = Array.from({ length: 20 }, () => table.update(key, { add: { spent: 3 } }));
      const seen = (await Promise.all(adds)).map((item) => (item === "refused" ? item : item.spent));
      expect(seen.sort((a, b) => Number(a) - Number(b))).toStrictEqual(
        Array.from({ length: 20 }, (_, i) => 3 * (i + 1)),
      );
      expect(await table.get(key)).toStrictEqual({ ...key, spent: 60 });
    });

    it("refuse to add to what is no number, and change nothing", async () => {
      await table.put({ ...key, a: "text" });
      await expect(table.update(key, { set: { b: 1 }, add: { a: 1 } })).rejects.toThrow(InvalidInput);
      expect(await table.get(key)).toStrictEqual({ ...key, a: "text" });
    });

    it("move items into, within and out of the look-ups", async () => {
      await table.put(key);
      const dueNow = async () => (await table.due({ before: startMs })).items.map((item) => item.due);
      const listed = async () => (await table.recent({ list: "l" })).items.map((item) => item.listAt);
      await table.update(key, { set: { due: 10, list: "l", listAt: "1" } });
      expect([await dueNow(), await listed()]).toStrictEqual([[10], ["1"]]);
      await table.update(key, { set: { due: 20, listAt: "2" } });
      expect([await dueNow(), await listed()]).toStrictEqual([[20], ["2"]]);
      expect(await table.update(key, { remove: ["due", "listAt"] })).toStrictEqual({ ...key, list: "l" });
      expect([await dueNow(), await listed()]).toStrictEqual([[], []]);
    });
  });

  describe(`${name}: removing`, () => {
    it("takes the item out of reads and look-ups", async () => {
      await table.put({ ...key, due: 1, list: "l", listAt: "1" });
      expect(await table.remove(key)).toBe("ok");
      expect(await table.get(key)).toBeNull();
      expect(await table.query({ pk: key.pk })).toStrictEqual([]);
      expect(await table.due({ before: startMs })).toStrictEqual({ items: [] });
      expect(await table.recent({ list: "l" })).toStrictEqual({ items: [] });
    });

    it("what is not there is ok, with a condition too", async () => {
      expect(await table.remove(key)).toBe("ok");
      expect(await table.remove(key, { a: 1 })).toBe("ok");
      await table.put(key);
      expect(await table.remove({ ...key, sk: "other" })).toBe("ok");
      expect(await table.get(key)).toStrictEqual(key);
    });
  });

  describe(`${name}: expiry`, () => {
    const ttl = startSeconds + 60;
    const item: Item = { ...key, a: 1, ttl, due: 1, list: "l", listAt: "1" };

    const seen = async () => ({
      get: await table.get(key),
      query: await table.query({ pk: key.pk }),
      newest: await table.query({ pk: key.pk, reverse: true, limit: 1 }),
      due: (await table.due({ before: startMs })).items,
      recent: (await table.recent({ list: "l" })).items,
    });

    it("one second before its ttl an item is there for everything (H78)", async () => {
      await table.put(item);
      setSeconds(ttl - 1);
      nowMs += 999;
      const all = [item];
      expect(await seen()).toStrictEqual({ get: item, query: all, newest: all, due: all, recent: all });
      expect(await table.put(item, { absent: true })).toBe("refused");
      expect(await table.remove(key, { a: 2 })).toBe("refused");
      expect(await table.put({ ...item, a: 2 }, { equals: { a: 1 } })).toBe("ok");
      expect(await table.update(key, { set: { a: 3 } })).toStrictEqual({ ...item, a: 3 });
    });

    for (const late of [0, 1, 3 * 24 * 3600]) {
      const when = `${late} s after its ttl`;
      it(`${when} an item is absent for every read (H78)`, async () => {
        await table.put(item);
        setSeconds(ttl + late);
        expect(await seen()).toStrictEqual({ get: null, query: [], newest: [], due: [], recent: [] });
      });

      it(`${when} an item is absent for an update, which does not revive it (H78)`, async () => {
        await table.put(item);
        setSeconds(ttl + late);
        expect(await table.update(key, { set: { ttl: ttl + 1_000_000 } })).toBe("refused");
        expect(await table.update(key, { add: { a: 1 } }, { a: 1 })).toBe("refused");
        expect(await table.get(key)).toBeNull();
      });

      it(`${when} an item is absent for conditions of puts (H78)`, async () => {
        await table.put(item);
        setSeconds(ttl + late);
        expect(await table.put({ ...key, b: 1 }, { equals: { a: 1 } })).toBe("refused");
        expect(await table.put({ ...key, b: 1 }, { equals: {} })).toBe("refused");
        expect(await table.put({ ...key, b: 1 }, { absent: true })).toBe("ok");
        expect(await table.get(key)).toStrictEqual({ ...key, b: 1 });
      });

      it(`${when} an item is absent for conditions of a removal (H78)`, async () => {
        await table.put(item);
        setSeconds(ttl + late);
        expect(await table.remove(key, { a: 2 })).toBe("ok");
      });
    }

    it("exactly one of 20 at once takes the place of an expired item", async () => {
      await table.put(item);
      setSeconds(ttl);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, writer) => table.put({ ...key, writer }, { absent: true })),
      );
      expect(answers.filter((answer) => answer === "ok")).toHaveLength(1);
    });

    it("expired items do not take places of a limit", async () => {
      for (let n = 10; n < 30; n++) {
        const expires = n % 2 === 0 ? { ttl } : {};
        await table.put({ pk: key.pk, sk: `I#${n}`, due: n, list: "l", listAt: `${n}`, ...expires });
      }
      setSeconds(ttl);
      const odd = [11, 13, 15, 17, 19, 21, 23];
      expect(await sortKeys({ limit: 7 })).toStrictEqual(odd.map((n) => `I#${n}`));
      expect((await table.due({ before: startMs, limit: 7 })).items.map((i) => i.due)).toStrictEqual(odd);
      const newest = (await table.recent({ list: "l", limit: 3 })).items.map((i) => i.listAt);
      expect(newest).toStrictEqual(["29", "27", "25"]);
    });

    it("an item without ttl stays", async () => {
      await table.put(key);
      setSeconds(startSeconds + 100 * 365 * 86400);
      expect(await table.get(key)).toStrictEqual(key);
    });
  });

  describe(`${name}: queries`, () => {
    const sk = (n: number) => `V#${String(n).padStart(12, "0")}`;

    it("order versions by their number: 10 after 9 (H14)", async () => {
      for (const n of [10, 2, 9, 100, 1]) await table.put({ pk: "acme#s1", sk: sk(n) });
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
      for (const text of [...ordered].sort()) await table.put({ pk: "acme#s1", sk: text });
      expect(await sortKeys({})).toStrictEqual(ordered);
      expect(await sortKeys({ reverse: true })).toStrictEqual([...ordered].reverse());
      expect(await sortKeys({ after: "\uffee" })).toStrictEqual(["\u{10000}", "\u{1F600}", "\u{10FFFF}"]);
    });

    const all = ["A", "A#1", "A#2", "B", "I#0", "I#1", "I#2", "I#3", "I#\u{10FFFF}", "IX", "STATUS"];
    const cases: [string, Omit<Parameters<Table["query"]>[0], "pk">, string[]][] = [
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
        await putAll(all.map((text) => ({ pk: "acme#s1", sk: text })));
        await putAll(["I#1", "Z"].map((text) => ({ pk: "acme#s2", sk: text })));
        expect(await sortKeys(options)).toStrictEqual(expected);
      });
    }

    it("follow every page: 2 MB come back whole, in order, both ways", async () => {
      const big = "x".repeat(150_000);
      const numbers = Array.from({ length: 14 }, (_, i) => i + 1);
      for (const n of numbers) await table.put({ pk: "acme#s1", sk: sk(n), n, big });
      const read = await table.query({ pk: "acme#s1", prefix: "V#" });
      expect(read.map((item) => item.n)).toStrictEqual(numbers);
      expect(read.every((item) => item.big === big)).toBe(true);
      const back = await table.query({ pk: "acme#s1", reverse: true, after: sk(14), limit: 12 });
      expect(back.map((item) => item.n)).toStrictEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    });

    it("see every write that was acknowledged", async () => {
      for (let n = 1; n <= 30; n++) {
        await table.put({ pk: "acme#s1", sk: sk(n) });
        expect(await sortKeys({ reverse: true, limit: 1 })).toStrictEqual([sk(n)]);
      }
    });
  });

  describe(`${name}: look-ups`, () => {
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
      await putAll([...dueItems].reverse());
      await table.put({ pk: "t1#x", sk: "STATUS" });
      const found = await table.due({ before: 1100 });
      expect(found).toStrictEqual({ items: dueItems.slice(0, 11) });
      expect(await table.due({ before: 999 })).toStrictEqual({ items: [] });
    });

    for (const limit of [1, 2, 5, 22, 23, 24]) {
      it(`due: pages of ${limit} give each item once, in order`, async () => {
        await putAll(dueItems);
        const pages = await pagesOf((cursor) => table.due({ before: 1220, limit, ...(cursor ? { cursor } : {}) }));
        expect(pages.flat()).toStrictEqual(dueItems);
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      });
    }

    it("due: items of the same time are each given once over pages", async () => {
      const items = Array.from({ length: 17 }, (_, i) => ({ pk: `t#s${i % 5}`, sk: `A#${i}`, due: 7 }));
      await putAll(items);
      const pages = await pagesOf((cursor) => table.due({ before: 7, limit: 4, ...(cursor ? { cursor } : {}) }));
      const names = pages.flat().map((item) => item.sk);
      expect(names.sort()).toStrictEqual(items.map((item) => item.sk).sort());
    });

    it("due: goes on after a cursor although what was read is gone by then", async () => {
      await putAll(dueItems);
      const first = await table.due({ before: 1220, limit: 10 });
      for (const item of first.items) await table.update(item, { set: { due: 9999 } });
      const rest = await table.due({ before: 1220, limit: 100, ...(first.cursor ? { cursor: first.cursor } : {}) });
      expect(rest).toStrictEqual({ items: dueItems.slice(10) });
    });

    it("due: a cursor beyond an earlier `before` finds nothing", async () => {
      await putAll(dueItems);
      const { cursor } = await table.due({ before: 1220, limit: 22 });
      expect(cursor).toBeTypeOf("string");
      expect(await table.due({ before: 1000, cursor })).toStrictEqual({ items: [] });
    });

    const listItems = Array.from({ length: 12 }, (_, i) => ({
      pk: `acme#s${i}`,
      sk: "STATUS",
      list: "acme#sessions",
      listAt: `${String(500 - i * 3).padStart(6, "0")}#s${i}`,
      title: `session ${i}`,
    }));

    it("recent: one list only, highest first", async () => {
      await putAll([...listItems].reverse());
      await table.put({ pk: "evil#s", sk: "STATUS", list: "evil#sessions", listAt: "999999" });
      await table.put({ pk: "acme#y", sk: "STATUS", list: "acme#sessions" });
      expect(await table.recent({ list: "acme#sessions" })).toStrictEqual({ items: listItems });
      expect(await table.recent({ list: "nobody" })).toStrictEqual({ items: [] });
    });

    for (const limit of [1, 5, 12, 13]) {
      it(`recent: pages of ${limit} give each item once, in order`, async () => {
        await putAll(listItems);
        const list = "acme#sessions";
        const pages = await pagesOf((cursor) => table.recent({ list, limit, ...(cursor ? { cursor } : {}) }));
        expect(pages.flat()).toStrictEqual(listItems);
        expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      });
    }

    it("recent: a cursor of one list shows nothing of it in another (G6)", async () => {
      await putAll(listItems);
      await table.put({ pk: "evil#s", sk: "STATUS", list: "evil#sessions", listAt: "000001" });
      const { cursor } = await table.recent({ list: "acme#sessions", limit: 2 });
      const found = await table.recent({ list: "evil#sessions", ...(cursor ? { cursor } : {}) });
      expect(found.items.map((item) => item.pk)).toStrictEqual(["evil#s"]);
    });

    it("recent: orders text that is not ASCII by its UTF-8 bytes", async () => {
      const ordered = ["\u{1F600}", "\uffee", "漢", "é", "a"];
      for (const [i, listAt] of ordered.entries()) await table.put({ pk: `p${i}`, sk: "S", list: "l", listAt });
      const pages = await pagesOf((cursor) => table.recent({ list: "l", limit: 2, ...(cursor ? { cursor } : {}) }));
      expect(pages.flat().map((item) => item.listAt)).toStrictEqual(ordered);
    });
  });
}
