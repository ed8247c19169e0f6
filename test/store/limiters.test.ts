// The tenant's limiter: what one process was told, another knows; what stands is never shortened (H44).
import { describe, expect, it } from "vitest";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { createLimiters } from "../../lib/store/limiters.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable } from "../../lib/testing/faulty-table.ts";

function world() {
  const clock = fakeClock();
  const table = createFaultyTable(createMemoryTable({ now: () => clock.now() }));
  return { clock, table, one: createLimiters(table, clock), other: createLimiters(table, clock) };
}

describe("a limiter", () => {
  it("is closed for every process until its time, for that tenant and model", async () => {
    const { clock, one, other } = world();
    const until = clock.now() + 10_000;
    await one.block("acme", "m", until);
    expect(await Promise.all([one.until("acme", "m"), other.until("acme", "m")])).toEqual([until, until]);
    expect([await other.until("acme", "n"), await other.until("globex", "m")]).toEqual([0, 0]);
    clock.set(until - 1);
    expect(await other.until("acme", "m")).toBe(until);
    clock.set(until);
    expect(await Promise.all([one.until("acme", "m"), other.until("acme", "m")])).toEqual([0, 0]);
  });

  it("takes the longest of what was said, whoever is last", async () => {
    const { clock, table, one, other } = world();
    const now = clock.now();
    await Promise.all([3, 9, 1, 7].map((s, i) => (i % 2 ? one : other).block("acme", "m", now + s * 1000)));
    await one.block("acme", "m", now + 2000);
    expect(await createLimiters(table, clock).until("acme", "m")).toBe(now + 9000);
  });

  it("is read once a second, and not at all while it is known to be closed", async () => {
    const { clock, table, one, other } = world();
    for (let i = 0; i < 5; i++) await one.until("acme", "m");
    expect(table.calls.length).toBe(1);
    await other.block("acme", "m", clock.now() + 60_000);
    const before = table.calls.length;
    expect(await one.until("acme", "m")).toBe(0);
    clock.set(clock.now() + 1000);
    expect(await one.until("acme", "m")).toBeGreaterThan(0);
    clock.set(clock.now() + 30_000);
    await one.until("acme", "m");
    expect(table.calls.length - before).toBe(1);
  });

  it("looks again when the clock has stepped back", async () => {
    const { clock, table, one } = world();
    await one.until("acme", "m");
    clock.set(clock.now() - 3_600_000);
    await one.until("acme", "m");
    expect(table.calls.length).toBe(2);
  });
});
