// A worker has died in the middle of a call, and its lease lasts: those who wait for it have done nothing wrong, however
// long it lasts by a clock that was set back.
import { defineAgent, defineTool } from "baton";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { leaseMarginMs, maxRecoveries, maxToolTimeoutMs } from "../../lib/core/limits.ts";
import { recoverSession } from "../../lib/sessions/recover.ts";
import { embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { Crash, createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";

const tenant = "acme";

async function withDeadHolder() {
  const clock = fakeClock();
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  let runs = 0;
  let dead = false;
  const save = defineTool({
    name: "save",
    description: "saves",
    input: z.object({}),
    effect: "idempotent",
    timeout: "5m",
    run: () => {
      runs++;
      if (runs > 1) return {};
      dead = true;
      throw new Crash("the process is dead");
    },
  });
  const agent = defineAgent({ name: "a", instructions: "x", model: { id: "m" }, tools: [save] });
  const model = replayModel([{ calls: [{ name: "save", input: {} }] }, { text: "Done." }]);
  const start = (name: string, fails: () => boolean) => {
    const table = createFaultyTable(base, [{ fault: "death before", on: fails }]);
    return embed({ agents: [agent], model, table, blobs, clock, ids: seededIds(name) });
  };
  const first = start("first", () => dead);
  const { sessionId } = await first.send("go");
  await first.idle();
  const second = start("second", () => false);
  const head = async () => {
    const found = await second.deps.store.log.head(tenant, sessionId);
    if (!found) throw new Error("the session is not there");
    return found;
  };
  const execution = (await head()).state.turn?.owner ?? "";
  const recover = () =>
    recoverSession(second.deps, { tenant, sessionId, execution, status: "FAILED", eventId: "event" });
  return { clock, second, head, recover, runs: () => runs };
}

describe("a session that waits for the lease of a dead worker", () => {
  it("is not blamed for it, and goes on when it is over (H15, H16)", async () => {
    const { clock, second, head, recover, runs } = await withDeadHolder();
    await recover();
    await second.idle();
    for (let look = 0; look <= maxRecoveries; look++) {
      expect((await head()).state).toMatchObject({ recoveries: 1, resumePending: { cause: "due" } });
      clock.set(clock.now() + 31_000);
      await second.sweep();
      await second.idle();
    }
    clock.set(clock.now() + 5 * 60_000);
    await second.sweep();
    await second.idle();
    expect((await head()).state).toMatchObject({ turn: null, lastTurn: { endReason: "completed" } });
    expect(runs()).toBe(2);
  });

  it("waits no longer than any lease may last when the clock was set back by a day (H14)", async () => {
    const { clock, second, head, recover } = await withDeadHolder();
    clock.set(clock.now() - 86_400_000);
    await recover();
    await second.idle();
    const longest = maxToolTimeoutMs + leaseMarginMs;
    expect((await head()).state.turn?.calls.map(({ leaseUntil }) => leaseUntil)).toEqual([clock.now() + longest]);
    clock.set(clock.now() + longest);
    await second.sweep();
    await second.idle();
    expect((await head()).state).toMatchObject({ turn: null, lastTurn: { endReason: "completed" } });
  });
});
