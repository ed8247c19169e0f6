import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { Fact } from "../../lib/core/memory.ts";
import { createFacts, type FactScope } from "../../lib/store/facts.ts";
import { factKey } from "../../lib/store/keys.ts";
import { kits } from "../support/stores.ts";

const ann: FactScope = { tenant: "acme", user: "ann" };
const idOf = (n: number) => String(n).padStart(20, "0");
const fact = (n: number, text = `fact ${n}`): Fact => ({
  id: idOf(n),
  text,
  kind: "context",
  source: { sessionId: "20261130_120000_0000abcd", turn: 1 },
  origin: "user",
  validFrom: 5,
  storedAt: 0,
  revision: 1,
});

for (const { name, open } of kits) {
  describe(`facts over ${name}`, async () => {
    const kit = await open();
    afterAll(() => kit.close());
    const { facts } = kit.store;

    it("are stored once, with the time of writing", async () => {
      const storedAt = kit.clock.now();
      expect(await facts.add(ann, fact(1))).toBe("added");
      expect(await facts.add(ann, fact(1, "another text"))).toBe("there");
      expect(await facts.get(ann, idOf(1))).toEqual({ ...fact(1), storedAt });
    });

    it("end once, and only with the text that was compared", async () => {
      await facts.add(ann, fact(2));
      await facts.close(ann, { id: idOf(2), revision: 2, validTo: 8 });
      expect(await facts.get(ann, idOf(2))).not.toHaveProperty("validTo");
      await facts.close(ann, { id: idOf(2), revision: 1, validTo: 8, replacedBy: idOf(3) });
      await facts.close(ann, { id: idOf(2), revision: 1, validTo: 9 });
      const closedAt = kit.clock.now();
      expect(await facts.get(ann, idOf(2))).toMatchObject({ validTo: 8, closedAt, replacedBy: idOf(3) });
      await facts.close(ann, { id: idOf(99), revision: 1, validTo: 8 });
      expect(await facts.get(ann, idOf(99))).toBeNull();
    });

    it("are corrected in the user's wording", async () => {
      await facts.add(ann, fact(4));
      expect(await facts.correct(ann, idOf(4), "better")).toMatchObject({ text: "better", revision: 2 });
      expect(await facts.correct(ann, idOf(98), "better")).toBeNull();
    });

    it("keep the direction of their text, of the newest model, until another text stands there", async () => {
      const vector = { model: "m1", packed: "AQI=" };
      await facts.add(ann, { ...fact(7), vector });
      expect(await facts.get(ann, idOf(7))).toMatchObject({ vector });
      const newer = { model: "m2", packed: "AwQ=" };
      await facts.keepVector(ann, { id: idOf(7), revision: 1, vector: newer });
      expect(await facts.get(ann, idOf(7))).toMatchObject({ vector: newer });
      expect(await facts.correct(ann, idOf(7), "better")).not.toHaveProperty("vector");
      // Made of the text that stood there before.
      await facts.keepVector(ann, { id: idOf(7), revision: 1, vector });
      expect(await facts.get(ann, idOf(7))).not.toHaveProperty("vector");
      await facts.keepVector(ann, { id: idOf(97), revision: 1, vector });
      expect(await facts.get(ann, idOf(97))).toBeNull();
    });

    it("are gone when deleted, and work that is repeated does not bring them back", async () => {
      await facts.add(ann, fact(5, "a secret"));
      expect(await facts.remove(ann, idOf(5))).toBe(true);
      expect(await facts.remove(ann, idOf(5))).toBe(false);
      expect(await facts.add(ann, fact(5, "a secret"))).toBe("deleted");
      expect(await facts.get(ann, idOf(5))).toBeNull();
      const items = await kit.table.query({ pk: factKey("acme", "ann", "x").pk });
      expect(JSON.stringify(items)).not.toContain("a secret");
    });

    it("are not written again after a deletion, nor left when one comes in the middle of writing", async () => {
      const puts: string[] = [];
      let inBetween = async () => {};
      const spied = createFacts(
        {
          ...kit.table,
          put: async (item, condition) => {
            puts.push(item.sk);
            const written = await kit.table.put(item, condition);
            await inBetween();
            return written;
          },
        },
        kit.clock,
      );
      inBetween = async () => {
        inBetween = async () => {};
        await facts.remove(ann, idOf(6));
      };
      expect(await spied.add(ann, fact(6))).toBe("deleted");
      expect(await facts.get(ann, idOf(6))).toBeNull();
      puts.length = 0;
      expect(await spied.add(ann, fact(6))).toBe("deleted");
      expect(puts).toEqual([]);
    });

    it("stay in their scope, whatever is done in whatever order (G18, H80)", async () => {
      const tenants = fc.constantFrom("t1", "t1.2", "T1");
      const users = fc.constantFrom("ann", "ANN", "ann#F", "ann%23F", "", "a/b", "安", "ann:F#1");
      const step = fc.record({
        tenant: tenants,
        user: users,
        n: fc.integer({ min: 1000, max: 1004 }),
        what: fc.constantFrom("add", "close", "correct", "remove", "list"),
      });
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const run = ++runs;
          const model = new Map<string, Map<string, string>>();
          const deleted = new Set<string>();
          for (const { tenant, user, n, what } of steps) {
            // A world of its own for each run.
            const scope = { tenant: `${tenant}-${run}`, user };
            const key = JSON.stringify(scope);
            const mine = model.get(key) ?? new Map<string, string>();
            model.set(key, mine);
            const id = idOf(n);
            if (what === "add") {
              await facts.add(scope, fact(n, key));
              if (!deleted.has(`${key}${id}`) && !mine.has(id)) mine.set(id, key);
            } else if (what === "close") {
              await facts.close(scope, { id, revision: 1, validTo: 6 });
            } else if (what === "correct") {
              await facts.correct(scope, id, `${key} corrected`);
              if (mine.has(id)) mine.set(id, `${key} corrected`);
            } else if (what === "remove") {
              if (mine.has(id)) deleted.add(`${key}${id}`);
              expect(await facts.remove(scope, id)).toBe(mine.delete(id));
            }
            const listed = await facts.list(scope);
            const seen = Object.fromEntries(listed.map((one) => [one.id, one.text]));
            expect(seen).toEqual(Object.fromEntries(mine));
          }
        }),
        { numRuns: name === "memory" ? 100 : 10 },
      );
    });
  });
}
