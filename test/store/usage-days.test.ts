// Usage by day, from real turns and straight: sums that may be written again, and are not lost by a crash.
import { defineAgent } from "baton";
import { describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import type { DayUsage } from "../../lib/core/day-usage.ts";
import { UnknownFormat } from "../../lib/core/errors.ts";
import { usageOfDay } from "../../lib/sessions/usage.ts";
import { usageKey } from "../../lib/store/keys.ts";
import { embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { Crash, createFaultyTable, type FaultPlan } from "../../lib/testing/faulty-table.ts";
import { greedyModel } from "../support/greedy-model.ts";

const agent = defineAgent({ name: "user", instructions: "x", model: { id: "claude-haiku-4-5", maxTokens: 100 } });
const isUsage = ({ pk }: { pk?: string }) => pk?.includes("#usage:") === true;

function world(plan: FaultPlan = []) {
  const clock = fakeClock({ start: Date.UTC(2026, 10, 30, 23, 0) });
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  const greedy = greedyModel({ rounds: 0 });
  const table = createFaultyTable(base, plan);
  const first = embed({ agents: [agent], model: greedy, table, blobs, clock });
  return {
    clock,
    base,
    blobs,
    greedy,
    table,
    embedded: first,
    next: () => embed({ agents: [agent], model: greedy, table: base, blobs, clock }),
    report: (day: string, tenant = "acme") => usageOfDay(first.deps, tenant, day),
  };
}

describe("usage by day", () => {
  it("is counted once a turn, by session and model, for the day of each call (UTC)", async () => {
    const at = world();
    const { sessionId } = await at.embedded.send("one");
    await at.embedded.idle();
    await at.embedded.send("two", { key: "agent:b", user: "bob" });
    await at.embedded.idle();
    const evening = at.greedy.charged.usdMicros;
    at.clock.set(Date.UTC(2026, 11, 1, 0, 0));
    await at.embedded.send("three");
    await at.embedded.idle();
    const days = [await at.report("2026-11-30"), await at.report("2026-12-01"), await at.report("2026-12-02")];
    expect(days.map(({ total }) => total.usdMicros)).toEqual([evening, at.greedy.charged.usdMicros - evening, 0]);
    expect(days[0]?.sessions.map(({ user }) => user).toSorted()).toEqual(["ann", "bob"]);
    expect(days[1]?.sessions).toEqual([
      expect.objectContaining({ sessionId, key: "agent:test", user: "ann", agent: "user", outputTokens: 100 }),
    ]);
    expect(days[0]?.models).toEqual([expect.objectContaining({ model: "claude-haiku-4-5", usdMicros: evening })]);
    expect(await at.report("2026-11-30", "globex")).toMatchObject({ total: { usdMicros: 0 }, sessions: [] });
    expect(at.table.calls.filter((call) => isUsage(call) && call.write > 0).length).toBe(3);
  });

  for (const fault of ["death before", "death after"] as const) {
    it(`survives a ${fault} its write: the sweeper counts it, once`, async () => {
      const at = world([{ fault, on: (call) => isUsage(call) && call.write > 0 }]);
      await at.embedded.send("one").catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
      });
      await at.embedded.idle();
      expect(at.table.dead).toBe(true);
      await at.embedded.stop(0).catch(() => {});
      const next = at.next();
      await next.boot();
      await next.idle();
      await next.boot("again");
      const { total } = await usageOfDay(next.deps, "acme", "2026-11-30");
      expect(total.usdMicros).toBe(at.greedy.charged.usdMicros);
    });
  }

  it("repeats the day before with the first turn of a new one, so that a lost write is made good", async () => {
    const at = world([{ fault: "lost request", on: (call) => isUsage(call) && call.write > 0, times: 5 }]);
    await at.embedded.send("one");
    await at.embedded.idle();
    expect((await at.report("2026-11-30")).total.usdMicros).toBe(0);
    const evening = at.greedy.charged.usdMicros;
    at.clock.set(Date.UTC(2026, 11, 1, 9, 0));
    await at.embedded.send("two");
    await at.embedded.idle();
    expect((await at.report("2026-11-30")).total.usdMicros).toBe(evening);
  });

  it("is not set back by somebody who is late", async () => {
    const at = world();
    const { sessionId } = await at.embedded.send("one");
    await at.embedded.idle();
    const late = await at.embedded.deps.store.log.head("acme", sessionId);
    await at.embedded.send("two");
    await at.embedded.idle();
    if (late) await at.embedded.deps.store.usageDays.record(late.state, late.version);
    expect((await at.report("2026-11-30")).total.usdMicros).toBe(at.greedy.charged.usdMicros);
  });

  it("refuses a record of a newer release, untouched (H06)", async () => {
    const at = world();
    await at.base.put({ ...usageKey("acme", "2026-11-30", "s"), format: 99, models: "{}" });
    await expect(at.report("2026-11-30")).rejects.toBeInstanceOf(UnknownFormat);
  });

  it("lists the most expensive 500 sessions and has all of them in the total", async () => {
    const at = world();
    const day = Math.floor(at.clock.now() / 86_400_000);
    const { sessionId } = await at.embedded.send("one");
    await at.embedded.idle();
    const real = await at.embedded.deps.store.log.head("acme", sessionId);
    if (!real) throw new Error("no session");
    for (let i = 0; i < 501; i++) {
      const days: DayUsage[] = [{ day, models: { m: [1, 1, 0, 0, i] } }];
      await at.embedded.deps.store.usageDays.record({ ...real.state, sessionId: `s${i}`, days }, 1);
    }
    const report = await at.report("2026-11-30");
    expect([report.sessions.length, report.omittedSessions]).toEqual([500, 2]);
    expect(report.sessions.map(({ usdMicros }) => usdMicros)).toEqual(
      report.sessions.map(({ usdMicros }) => usdMicros).toSorted((a, b) => b - a),
    );
    expect(report.total.usdMicros).toBe((500 * 501) / 2 + at.greedy.charged.usdMicros);
  });
});
