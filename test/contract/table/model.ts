// Random histories against a model that is too simple to be wrong: a Map of items, looked through for
// everything. Finds what the written cases of the contract do not name.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Change, Condition, Item, Key, Value } from "../../../lib/ports/table.ts";
import type { CreateTable } from "./table-under-test.ts";

const startSeconds = 1_800_000_000;

type Equals = Record<string, Value | undefined>;
type Step =
  | { op: "put"; item: Item; condition?: Condition }
  | { op: "update"; key: Key; change: Change; equals?: Equals }
  | { op: "remove"; key: Key; equals?: Equals }
  | { op: "get"; key: Key }
  | { op: "query"; pk: string; prefix?: string; after?: string; limit?: number; reverse?: boolean }
  | { op: "due"; before: number }
  | { op: "recent"; list: string }
  | { op: "wait"; seconds: number };

const sortKey = fc.constantFrom("A", "A#", "A#1", "A#é", "A#\uffee", "A#\u{1F600}", "B");
const key = fc.record({ pk: fc.constantFrom("t#1", "t#2"), sk: sortKey });
const value = fc.constantFrom<Value>(0, 1, "", "x", true, Uint8Array.of(0, 255));
const equals = fc.dictionary(fc.constantFrom("a", "n", "ttl"), fc.option(value, { nil: undefined }), { maxKeys: 2 });
const optional = { requiredKeys: [] as [] };
const reserved = {
  ttl: fc.integer({ min: startSeconds, max: startSeconds + 8 }),
  due: fc.integer({ min: 0, max: 9 }),
  list: fc.constantFrom("l", "m"),
  listAt: fc.constantFrom("1", "2", "é"),
};
const attributes = fc.record({ a: value, n: fc.integer(), ...reserved }, optional);
const condition = fc.oneof(
  fc.constant<Condition>({ absent: true }),
  equals.map((of): Condition => ({ equals: of })),
);

const change: fc.Arbitrary<Change> = fc
  .record({ set: attributes, by: fc.option(fc.integer({ min: -9, max: 9 })) })
  .map(({ set: { n: _n, ...set }, by }) => {
    const add: Record<string, number> = by === null ? {} : { n: by };
    return { set: set as Record<string, Value>, add, remove: ["gone"] };
  });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        op: fc.constant("put" as const),
        key,
        rest: attributes,
        condition: fc.option(condition, { nil: undefined }),
      })
      .map(({ key: of, rest, ...s }) => ({ ...s, item: { ...rest, ...of } })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("update" as const),
      key,
      change,
      equals: fc.option(equals, { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("remove" as const), key, equals: fc.option(equals, { nil: undefined }) }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("get" as const), key }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("query" as const),
      pk: fc.constantFrom("t#1", "t#2"),
      prefix: fc.option(sortKey, { nil: undefined }),
      after: fc.option(sortKey, { nil: undefined }),
      limit: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      reverse: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("due" as const), before: fc.integer({ min: 0, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("recent" as const), list: fc.constantFrom("l", "m") }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("wait" as const), seconds: fc.integer({ min: 0, max: 3 }) }) },
);

export function tableModel(name: string, create: CreateTable): void {
  describe(`${name}: any history`, () => {
    it("is answered as a plain map of items would answer it", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
          let seconds = startSeconds;
          const table = await create({ now: () => seconds * 1000 });
          const items = new Map<string, Item>();
          const alive = () => [...items.values()].filter((item) => item.ttl === undefined || item.ttl > seconds);
          const find = (at: Key) => alive().find((item) => item.pk === at.pk && item.sk === at.sk) ?? null;
          try {
            for (const s of steps) {
              switch (s.op) {
                case "put": {
                  const ok =
                    !s.condition || ("absent" in s.condition ? !find(s.item) : fits(find(s.item), s.condition.equals));
                  expect(await table.put(s.item, s.condition)).toBe(ok ? "ok" : "refused");
                  if (ok) items.set(`${s.item.pk} ${s.item.sk}`, s.item);
                  break;
                }
                case "update": {
                  const old = find(s.key);
                  const answer = await table.update(s.key, s.change, s.equals);
                  if (!old || !fits(old, s.equals ?? {})) expect(answer).toBe("refused");
                  else {
                    const by = s.change.add?.n;
                    const next = {
                      ...old,
                      ...s.change.set,
                      ...(by === undefined ? {} : { n: Number(old.n ?? 0) + by }),
                    };
                    expect(answer).toStrictEqual(next);
                    items.set(`${s.key.pk} ${s.key.sk}`, next);
                  }
                  break;
                }
                case "remove": {
                  const old = find(s.key);
                  const ok = !old || fits(old, s.equals ?? {});
                  expect(await table.remove(s.key, s.equals)).toBe(ok ? "ok" : "refused");
                  if (ok) items.delete(`${s.key.pk} ${s.key.sk}`);
                  break;
                }
                case "get":
                  expect(await table.get(s.key)).toStrictEqual(find(s.key));
                  break;
                case "query": {
                  const { op: _op, ...options } = s;
                  const side = (sk: string) =>
                    s.after === undefined || (s.reverse ? bytes(sk, s.after) < 0 : bytes(sk, s.after) > 0);
                  const found = alive().filter((i) => i.pk === s.pk && i.sk.startsWith(s.prefix ?? "") && side(i.sk));
                  found.sort((a, b) => bytes(a.sk, b.sk) * (s.reverse ? -1 : 1));
                  expect(await table.query(options)).toStrictEqual(found.slice(0, s.limit ?? found.length));
                  break;
                }
                case "due": {
                  const { items: found } = await table.due({ before: s.before });
                  const times = found.map((item) => item.due ?? 0);
                  expect(times).toStrictEqual([...times].sort((a, b) => a - b));
                  expect(byKey(found)).toStrictEqual(
                    byKey(alive().filter((i) => i.due !== undefined && i.due <= s.before)),
                  );
                  break;
                }
                case "recent": {
                  const { items: found } = await table.recent({ list: s.list });
                  const times = found.map((item) => item.listAt ?? "");
                  expect(times).toStrictEqual([...times].sort((a, b) => bytes(b, a)));
                  expect(byKey(found)).toStrictEqual(
                    byKey(alive().filter((i) => i.list === s.list && i.listAt !== undefined)),
                  );
                  break;
                }
                case "wait":
                  seconds += s.seconds;
              }
            }
          } finally {
            await table.close();
          }
        }),
        { numRuns: 60 },
      );
    });
  });
}

function fits(item: Item | null, wanted: Equals): boolean {
  return item !== null && Object.entries(wanted).every(([name, is]) => show(item[name]) === show(is));
}

function show(of: Value | undefined): string {
  return of instanceof Uint8Array ? `bytes ${of.join()}` : `${typeof of} ${of}`;
}

function bytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function byKey(items: Item[]): Item[] {
  return [...items].sort((a, b) => bytes(`${a.pk} ${a.sk}`, `${b.pk} ${b.sk}`));
}
