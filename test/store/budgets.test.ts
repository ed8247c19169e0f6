// Budgets on every kind of table: what is reserved, settled, left behind by a dead process, and never spent (G15).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDynamoDbTable } from "../../lib/adapters/dynamodb-table.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { createSqliteTable } from "../../lib/adapters/sqlite-table.ts";
import { Fenced, UnknownFormat } from "../../lib/core/errors.ts";
import { dayMs } from "../../lib/core/utc-day.ts";
import type { Table } from "../../lib/ports/table.ts";
import { type Amount, type BudgetCall, type Budgets, createBudgets, type Scope } from "../../lib/store/budgets.ts";
import { budgetKey } from "../../lib/store/keys.ts";
import { type FakeClock, fakeClock } from "../../lib/testing/fake-clock.ts";
import { Crash, createFaultyTable, type Fault } from "../../lib/testing/faulty-table.ts";
import { type Dynalite, startDynalite } from "../support/dynalite.ts";

const usd = (usdMicros: number, tokens = 0): Amount => ({ usdMicros, tokens });
const scopeOf = (name: string, usdMicros = 1000, tokens = 0): Scope => ({ name, limit: { usdMicros, tokens } });
const three = [scopeOf("session:s"), scopeOf("user:d:ann"), scopeOf("tenant:d")];

let dynalite: Dynalite;
const folder = mkdtempSync(join(tmpdir(), "baton-budgets-"));
beforeAll(async () => {
  dynalite = await startDynalite();
});
afterAll(async () => {
  await dynalite.close();
  rmSync(folder, { recursive: true });
});

let count = 0;
const tables: { name: string; open: (clock: FakeClock) => Promise<Table> }[] = [
  { name: "memory", open: async (clock) => createMemoryTable({ now: () => clock.now() }) },
  {
    name: "sqlite",
    open: async (clock) => createSqliteTable({ file: join(folder, `${++count}.sqlite`), now: () => clock.now() }),
  },
  {
    name: "dynamodb",
    open: async (clock) => {
      const tableName = await dynalite.createTable();
      return createDynamoDbTable({ client: dynalite.client, tableName, now: () => clock.now() });
    },
  },
];

function callOf(clock: FakeClock, id: string, amount: Amount, nonce = "n1"): BudgetCall {
  return { tenant: "acme", id, nonce, amount, until: clock.now() + 1_200_000 };
}

async function balances(budgets: Budgets, scopes: readonly Scope[]) {
  return Promise.all(scopes.map(({ name }) => budgets.balance("acme", name)));
}

async function granted(budgets: Budgets, call: BudgetCall, scopes: readonly Scope[]) {
  const answer = await budgets.reserve(call, scopes);
  if ("over" in answer) throw new Error(`over: ${JSON.stringify(answer.over)}`);
  return answer.reservation;
}

for (const { name, open } of tables) {
  describe(`budgets over ${name}`, () => {
    it("reserve the worst case and settle by what it was (G15)", async () => {
      const clock = fakeClock();
      const budgets = createBudgets(await open(clock), clock);
      const reservation = await granted(budgets, callOf(clock, "c1", usd(100, 50)), three);
      expect(await balances(budgets, three)).toEqual(three.map(() => ({ spent: usd(0), reserved: usd(100, 50) })));
      await budgets.settle(reservation, usd(30, 20));
      await budgets.settle(reservation, usd(30, 20));
      expect(await balances(budgets, three)).toEqual(three.map(() => ({ spent: usd(30, 20), reserved: usd(0) })));
    });

    it("refuse what does not fit, name the scope and unit, and leave nothing reserved (G15)", async () => {
      const clock = fakeClock();
      const budgets = createBudgets(await open(clock), clock);
      const scopes = [scopeOf("session:s", 1000), scopeOf("tenant:d", 500, 80)];
      await budgets.settle(await granted(budgets, callOf(clock, "c1", usd(400, 10)), scopes), usd(400, 10));
      const over = { spent: usd(400, 10), reserved: usd(0) };
      expect([
        await budgets.reserve(callOf(clock, "c2", usd(101, 1)), scopes),
        await budgets.reserve(callOf(clock, "c3", usd(1, 71)), scopes),
        await budgets.reserve(callOf(clock, "c4", usd(601)), [scopeOf("session:s", 1000)]),
      ]).toEqual([
        { over: { scope: "tenant:d", unit: "usdMicros", limit: 500, ...over } },
        { over: { scope: "tenant:d", unit: "tokens", limit: 80, ...over } },
        { over: { scope: "session:s", unit: "usdMicros", limit: 1000, ...over } },
      ]);
      expect(await balances(budgets, scopes)).toEqual([over, over]);
      expect(await budgets.reserve(callOf(clock, "c5", usd(100, 70)), scopes)).toHaveProperty("reservation");
    });

    it("let exactly as many of 20 calls at once through as fit (G15)", async () => {
      const clock = fakeClock();
      const budgets = createBudgets(await open(clock), clock);
      const scope = scopeOf("tenant:d", 700);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => budgets.reserve(callOf(clock, `c${i}`, usd(100)), [scope])),
      );
      expect(answers.filter((answer) => "reservation" in answer).length).toBe(7);
      expect(await budgets.balance("acme", "tenant:d")).toEqual({ spent: usd(0), reserved: usd(700) });
    });

    it("count what a dead process reserved as spent once its time is over, and not before", async () => {
      const clock = fakeClock();
      const budgets = createBudgets(await open(clock), clock);
      const scope = scopeOf("tenant:d", 1000);
      await granted(budgets, callOf(clock, "dead", usd(600)), [scope]);
      clock.set(clock.now() + 1_200_000);
      const second = await granted(budgets, callOf(clock, "alive", usd(100)), [scope]);
      expect(await budgets.balance("acme", "tenant:d")).toEqual({ spent: usd(0), reserved: usd(700) });
      await budgets.settle(second, usd(10));
      clock.set(clock.now() + 1);
      await budgets.settle(await granted(budgets, callOf(clock, "third", usd(100)), [scope]), usd(10));
      expect(await budgets.balance("acme", "tenant:d")).toEqual({ spent: usd(620), reserved: usd(0) });
    });
  });
}

describe("budgets", () => {
  it("never grant more than the limit, whatever runs at once (G15)", async () => {
    const amount = fc.record({ worst: fc.integer({ min: 0, max: 400 }), share: fc.integer({ min: 0, max: 100 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(amount, { minLength: 1, maxLength: 25 }), async (calls) => {
        const clock = fakeClock();
        const budgets = createBudgets(createMemoryTable({ now: () => clock.now() }), clock);
        const scopes = [scopeOf("session:s", 900), scopeOf("tenant:d", 1000)];
        let [spent, held] = [0, 0];
        await Promise.all(
          calls.map(async ({ worst, share }, i) => {
            const answer = await budgets.reserve(callOf(clock, `c${i}`, usd(worst)), scopes);
            if ("over" in answer) return;
            held += worst;
            expect(spent + held).toBeLessThanOrEqual(900);
            const actual = Math.floor((worst * share) / 100);
            await budgets.settle(answer.reservation, usd(actual));
            [spent, held] = [spent + actual, held - worst];
          }),
        );
        const end = { spent: usd(spent), reserved: usd(0) };
        expect(await balances(budgets, scopes)).toEqual([end, end]);
      }),
      { numRuns: 100 },
    );
  });

  it("do not refuse because of another call that is about to be refused", async () => {
    const clock = fakeClock();
    const table = createMemoryTable({ now: () => clock.now() });
    const scope = scopeOf("tenant:d", 1000);
    await createBudgets(table, clock).reserve(callOf(clock, "first", usd(1)), [scope]);
    // The big call stands in the sum until its release, which comes after the small one has looked.
    let release = () => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = createFaultyTable(table, [{ fault: "delay", on: 2, until }]);
    const big = createBudgets(slow, clock).reserve(callOf(clock, "big", usd(5000)), [scope]);
    const looking = createFaultyTable(table, [
      {
        fault: "delay",
        on: ({ op, write }) => {
          if (op === "update" && write > 1) release();
          return false;
        },
        until: Promise.resolve(),
      },
    ]);
    const small = await createBudgets(looking, clock).reserve(callOf(clock, "small", usd(100)), [scope]);
    expect(small).toHaveProperty("reservation");
    expect(await big).toHaveProperty("over");
  });

  for (const scopes of [three.slice(0, 1), three]) {
    it(`are right after a death or a lost answer at any write, ${scopes.length} scope(s) (G15)`, async () => {
      const faults: Fault["fault"][] = ["death before", "death after", "lost answer", "lost request"];
      for (const fault of faults) {
        for (let n = 1; n <= scopes.length * 3; n++) {
          const { charged, met, calls } = await spendTwice(scopes, { fault, on: n } as Fault);
          if (!met) continue;
          const death = fault.startsWith("death");
          const at = `${fault} at write ${n}`;
          for (const { spent, reserved } of calls) {
            expect({ at, reserved }).toEqual({ at, reserved: usd(0, 0) });
            expect({ at, enough: spent.usdMicros >= charged }).toEqual({ at, enough: true });
            // Nobody knows what a dead call cost; one that answered late is known.
            expect({ at, most: spent.usdMicros <= charged + (death ? 100 : 0) }).toEqual({ at, most: true });
          }
        }
      }
    });
  }

  /** A call of at most 100 that costs 60, and the same call again by the process after it. */
  async function spendTwice(scopes: readonly Scope[], fault: Fault) {
    const clock = fakeClock();
    const base = createMemoryTable({ now: () => clock.now() });
    let charged = 0;
    const life = async (table: Table, nonce: string) => {
      const budgets = createBudgets(table, clock);
      const reservation = await granted(budgets, callOf(clock, "c1", usd(100), nonce), scopes);
      charged += 60;
      await budgets.settle(reservation, usd(60));
    };
    const faulty = createFaultyTable(base, [fault]);
    await life(faulty, "n1").catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
    });
    const met = faulty.dead || faulty.writes >= Number(fault.on);
    if (faulty.dead) await life(base, "n2");
    return { charged, met, calls: await balances(createBudgets(base, clock), scopes) };
  }

  it("count a stalled attempt that was taken over as spent, once, and ignore its late receipt", async () => {
    const clock = fakeClock();
    const budgets = createBudgets(createMemoryTable({ now: () => clock.now() }), clock);
    const stalled = await granted(budgets, callOf(clock, "c1", usd(100), "zombie"), three);
    const owner = await granted(budgets, callOf(clock, "c1", usd(100), "owner"), three);
    expect(await balances(budgets, three)).toEqual(three.map(() => ({ spent: usd(100), reserved: usd(100) })));
    await budgets.settle(stalled, usd(40));
    await budgets.settle(owner, usd(40));
    await budgets.settle(stalled, usd(40));
    expect(await balances(budgets, three)).toEqual(three.map(() => ({ spent: usd(140), reserved: usd(0) })));
  });

  it("count both attempts, or stop the one that was taken over while it reserved (H15, G15)", async () => {
    const outcomes: string[] = [];
    for (let n = 1; n <= 6; n++) {
      const clock = fakeClock();
      const base = createMemoryTable({ now: () => clock.now() });
      const free = createBudgets(base, clock);
      let wake = () => {};
      const until = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const stalls = createFaultyTable(base, [{ fault: "delay", on: n, until }]);
      const zombie = createBudgets(stalls, clock).reserve(callOf(clock, "c1", usd(100), "zombie"), three);
      await new Promise((resolve) => setImmediate(resolve));
      const owner = await granted(free, callOf(clock, "c1", usd(100), "owner"), three);
      let charged = 40;
      wake();
      const late = await zombie.catch((error: unknown) => error);
      if (late instanceof Fenced) outcomes.push("fenced");
      else if (typeof late === "object" && late !== null && "reservation" in late) {
        charged += 40;
        outcomes.push("counted");
        await free.settle(late.reservation as typeof owner, usd(40));
      }
      await free.settle(owner, usd(40));
      for (const { spent, reserved } of await balances(free, three)) {
        expect(spent.usdMicros).toBeGreaterThanOrEqual(charged);
        expect(reserved).toEqual(usd(0));
      }
    }
    // At writes 1 and 2 it had nothing yet; from 3 on the first scope is no longer its own.
    expect(outcomes).toEqual(["counted", "counted", "fenced", "fenced", "fenced", "fenced"]);
  });

  it("begin with what a session had spent before it had a limit", async () => {
    const clock = fakeClock();
    const budgets = createBudgets(createMemoryTable({ now: () => clock.now() }), clock);
    const scope = { ...scopeOf("session:s", 1000), seed: usd(950, 7) };
    expect(await budgets.reserve(callOf(clock, "c1", usd(51)), [scope])).toHaveProperty("over.spent", usd(950, 7));
    expect(await budgets.reserve(callOf(clock, "c2", usd(50)), [scope])).toHaveProperty("reservation");
  });

  it("refuse a record of a newer release, untouched (H06)", async () => {
    const clock = fakeClock();
    const table = createMemoryTable({ now: () => clock.now() });
    const newer = { ...budgetKey("acme", "tenant:d"), format: 99, spentMicros: 5 };
    await table.put(newer);
    const budgets = createBudgets(table, clock);
    await expect(budgets.reserve(callOf(clock, "c1", usd(1)), [scopeOf("tenant:d")])).rejects.toBeInstanceOf(
      UnknownFormat,
    );
    expect(await table.get(budgetKey("acme", "tenant:d"))).toEqual(newer);
  });

  it("are kept for 400 days after they were last touched, in epoch seconds (H78)", async () => {
    const clock = fakeClock();
    const table = createMemoryTable({ now: () => clock.now() });
    const budgets = createBudgets(table, clock);
    const scope = scopeOf("session:s", 1000);
    await budgets.settle(await granted(budgets, callOf(clock, "c1", usd(10)), [scope]), usd(10));
    clock.set(clock.now() + 399 * dayMs);
    await budgets.settle(await granted(budgets, callOf(clock, "c2", usd(10)), [scope]), usd(10));
    const item = await table.get(budgetKey("acme", "session:s"));
    expect(item).toMatchObject({ spentMicros: 20, ttl: Math.ceil((clock.now() + 400 * dayMs) / 1000) });
    clock.set(clock.now() + 400 * dayMs + 1000);
    expect(await budgets.balance("acme", "session:s")).toEqual({ spent: usd(0), reserved: usd(0) });
  });

  it("see only the tenant's own (G6)", async () => {
    const clock = fakeClock();
    const budgets = createBudgets(createMemoryTable({ now: () => clock.now() }), clock);
    await granted(budgets, callOf(clock, "c1", usd(1000)), [scopeOf("tenant:d", 1000)]);
    const other = { ...callOf(clock, "c1", usd(1000)), tenant: "globex" };
    expect(await budgets.reserve(other, [scopeOf("tenant:d", 1000)])).toHaveProperty("reservation");
  });
});
