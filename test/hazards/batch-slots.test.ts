// Every slot of a task is accounted for and runs at most once, whatever happens to the schedulers (H77, G17).
import { describe, expect, it } from "vitest";
import { accounts, define, hourMs, minuteMs, runsOf, taskWorld, turnsOf } from "../batch/task-world.ts";

const daily = (hour: number, catchUp: "none" | "once" = "none") => ({
  name: `daily-${hour}`,
  schedule: { cron: `0 ${hour} * * *`, timeZone: "UTC" },
  catchUp,
});

describe("a scheduled task", () => {
  it("runs at its time in a session of its own, and its record says how it ended (G17)", async () => {
    const world = taskWorld("2026-11-30T05:59:00Z");
    const process = world.start();
    await define(process, daily(6));
    await process.sweep();
    expect(await runsOf(process, "daily-6")).toEqual([]);
    await world.clock.advance(minuteMs);
    await process.sweep();
    await process.idle();
    const [run] = await runsOf(process, "daily-6");
    expect(run).toEqual({
      slot: "20261130T060000Z",
      kind: "schedule",
      status: "done",
      at: "2026-11-30T06:00:00.000Z",
      sessionId: expect.any(String),
      turn: 1,
      outcome: "completed",
      endReason: "completed",
      startedAt: "2026-11-30T06:00:00.000Z",
      finishedAt: "2026-11-30T06:00:00.000Z",
    });
    const head = await process.deps.store.log.head("acme", run?.sessionId ?? "");
    expect(head?.state).toMatchObject({ key: "agent:reporter:task:daily-6:20261130T060000Z", user: "ann", turns: 1 });
  });

  it("defined again with the same schedule loses no slot; with another one it starts from now", async () => {
    const world = taskWorld("2026-11-30T05:59:00Z");
    const process = world.start();
    await define(process, daily(6));
    await world.clock.advance(2 * minuteMs);
    await define(process, { ...daily(6), prompt: "Write a longer report." });
    await process.sweep();
    await process.idle();
    expect(await accounts(process, "daily-6")).toEqual(["2026-11-30T06:00 done"]);
    await define(process, { ...daily(6), schedule: { cron: "0 5 * * *", timeZone: "UTC" } });
    const stored = await process.deps.store.tasks.get("acme", "daily-6");
    expect(stored?.nextAt).toBe(Date.parse("2026-12-01T05:00:00Z"));
  });

  it("is left alone once it is removed: what was due is skipped with that reason", async () => {
    const world = taskWorld("2026-11-30T05:59:00Z");
    const process = world.start({
      plan: [
        {
          fault: "lost request",
          on: ({ item, op, sk }) => op === "update" && sk === "T#daily-6" && item === undefined,
          times: 1,
        },
      ],
    });
    await define(process, daily(6));
    await world.clock.advance(minuteMs);
    // The slot's record is written, and the schedule does not move on: the sweep fails there.
    expect(await process.sweep()).toMatchObject({ failed: 1 });
    await process.deps.store.tasks.remove("acme", "daily-6");
    expect(await process.sweep()).toEqual({ "run skipped": 1 });
    const slot = await process.deps.store.slots.get("acme", "daily-6", "20261130T060000Z");
    expect(slot).toMatchObject({ status: "skipped", reason: "the task was removed" });
  });
});

describe("12 hours down over 13 daily tasks (H77)", () => {
  const tasks = Array.from({ length: 13 }, (_, i) => daily(i + 3, i % 2 === 0 ? "once" : "none"));

  it("accounts for every slot: one run for each task that catches up, a reason for each other", async () => {
    const world = taskWorld("2026-11-30T02:00:00Z");
    const before = world.start();
    for (const task of tasks) await define(before, task);
    await world.clock.advance(12 * hourMs);
    const process = world.start();
    await process.sweep();
    await process.idle();
    // 03:00 to 13:00 were missed, 14:00 is on time, 15:00 has not come.
    for (const [i, task] of tasks.entries()) {
      const at = `2026-11-30T${String(i + 3).padStart(2, "0")}:00`;
      const expected =
        i === 12
          ? []
          : i === 11 || task.catchUp === "once"
            ? [`${at} done`]
            : [`${at} skipped: missed while nothing ran`];
      expect([task.name, await accounts(process, task.name)]).toEqual([task.name, expected]);
      expect(await turnsOf(process, task.name)).toHaveLength(expected[0]?.endsWith("done") ? 1 : 0);
    }
  });

  it("catches up with the latest of many missed slots only", async () => {
    const world = taskWorld("2026-11-30T02:00:00Z");
    const process = world.start();
    await define(process, { name: "hourly", schedule: { cron: "30 * * * *", timeZone: "UTC" }, catchUp: "once" });
    await world.clock.advance(4 * hourMs);
    await process.sweep();
    await process.idle();
    expect(await accounts(process, "hourly")).toEqual([
      "2026-11-30T02:30 skipped: missed while nothing ran",
      "2026-11-30T03:30 skipped: missed while nothing ran",
      "2026-11-30T04:30 skipped: missed while nothing ran",
      "2026-11-30T05:30 done",
    ]);
  });

  it("writes one record for hundreds of slots that were missed at once, and every slot is counted in one", async () => {
    const world = taskWorld("2026-11-30T00:00:00Z");
    const process = world.start();
    await define(process, { name: "minutely", schedule: { cron: "* * * * *", timeZone: "UTC" }, catchUp: "once" });
    await world.clock.advance(12 * hourMs);
    await process.sweep();
    await process.idle();
    await process.sweep();
    const runs = await runsOf(process, "minutely");
    expect(runs.reduce((sum, run) => sum + (run.count ?? 1), 0)).toBe(12 * 60);
    expect(runs.filter((run) => run.count !== undefined).map((run) => run.count)).toEqual(Array(7).fill(100));
    const stored = await process.deps.store.tasks.get("acme", "minutely");
    expect(stored?.nextAt).toBe(Date.parse("2026-11-30T12:01:00Z"));
  });
});

describe("a task longer than its interval (H77)", () => {
  it("skips the slots in between with the reason, and runs the next one after its end", async () => {
    const world = taskWorld("2026-11-30T05:59:00Z");
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    const process = world.start({
      model: {
        async reply(request) {
          if (++asked === 1) await gate.promise;
          const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
          return { model: request.model, content: [{ type: "text", text: "Done." }], stop: "end_turn", usage };
        },
      },
    });
    await define(process, { name: "often", schedule: { cron: "*/10 * * * *", timeZone: "UTC" } });
    for (let i = 0; i < 3; i++) {
      await world.clock.advance(i === 0 ? minuteMs : 10 * minuteMs);
      await process.sweep();
    }
    expect(await accounts(process, "often")).toEqual([
      "2026-11-30T06:00 claimed",
      "2026-11-30T06:10 skipped: still running",
      "2026-11-30T06:20 skipped: still running",
    ]);
    gate.resolve();
    await process.idle();
    await world.clock.advance(10 * minuteMs);
    await process.sweep();
    await process.idle();
    expect((await accounts(process, "often")).slice(-1)).toEqual(["2026-11-30T06:30 done"]);
    expect(await turnsOf(process, "often")).toHaveLength(2);
  });
});

describe("two schedulers over one table (H77, G17)", () => {
  it("make one run for each slot", async () => {
    const world = taskWorld("2026-11-30T05:59:00Z");
    const [a, b] = [world.start(), world.start()];
    await define(a, { name: "often", schedule: { cron: "*/10 * * * *", timeZone: "UTC" } });
    for (let i = 0; i < 6; i++) {
      await world.clock.advance(i === 0 ? minuteMs : 10 * minuteMs);
      await Promise.all([a.sweep(), b.sweep()]);
      await Promise.all([a.idle(), b.idle()]);
    }
    const turns = await turnsOf(a, "often");
    expect(turns).toHaveLength(6);
    expect(new Set(turns).size).toBe(6);
    expect((await accounts(a, "often")).every((line) => line.endsWith("done"))).toBe(true);
  });
});

describe("a scheduler that dies (H77, G17)", () => {
  /** Writes of an undisturbed sweep, to kill at each. */
  async function sweepWrites(): Promise<number> {
    const world = taskWorld("2026-11-30T05:59:00Z");
    const process = world.start();
    await define(process, daily(6));
    const before = process.writes();
    await world.clock.advance(minuteMs);
    await process.sweep();
    await process.idle();
    return process.writes() - before;
  }

  it("at any write leaves a slot that runs once", async () => {
    const writes = await sweepWrites();
    expect(writes).toBeGreaterThan(8);
    for (let n = 1; n <= writes; n++) {
      for (const fault of ["death before", "death after", "lost answer", "lost request"] as const) {
        const world = taskWorld("2026-11-30T05:59:00Z");
        await define(world.start(), daily(6));
        await world.clock.advance(minuteMs);
        const first = world.start({ plan: [{ fault, on: n }] });
        await first.sweep().catch(() => {});
        await first.idle();
        await first.stop(0).catch(() => {});
        const second = world.start();
        await second.boot(`boot-${n}`);
        await second.idle();
        for (let minute = 0; minute < 4; minute++) {
          await world.clock.advance(minuteMs);
          await second.sweep();
          await second.idle();
        }
        await world.clock.advance(10 * minuteMs);
        await second.sweep();
        const label = `${fault} write ${n}`;
        expect([label, await accounts(second, "daily-6")]).toEqual([label, ["2026-11-30T06:00 done"]]);
        expect([label, await turnsOf(second, "daily-6")]).toEqual([label, [expect.any(String)]]);
      }
    }
  });

  it("after the slot moved on and before the claim, and comes back 12 h later: skipped or caught up, as configured", async () => {
    for (const catchUp of ["none", "once"] as const) {
      const world = taskWorld("2026-11-30T05:59:00Z");
      await define(world.start(), daily(6, catchUp));
      await world.clock.advance(minuteMs);
      const isClaim = ({ op, sk }: { op: string; sk?: string }) => op === "update" && sk === "S#20261130T060000Z";
      const first = world.start({ plan: [{ fault: "death before", on: isClaim }] });
      await first.sweep().catch(() => {});
      expect(first.dead()).toBe(true);
      await world.clock.advance(12 * hourMs);
      const second = world.start();
      await second.sweep();
      await second.idle();
      expect(await accounts(second, "daily-6")).toEqual([
        catchUp === "once" ? "2026-11-30T06:00 done" : "2026-11-30T06:00 skipped: missed while nothing ran",
      ]);
    }
  });
});
