import { describe, expect, it } from "vitest";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { sweepMemory } from "../../lib/memory/sweep-memory.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { learnt, memoryWorld } from "../support/memory-world.ts";

const minute = 60_000;

describe("remember, cut off", () => {
  /** One turn in a process whose n-th write meets the fault, then another process until nothing is due. */
  async function play(n: number, fault: "death before" | "death after" | "lost answer") {
    const clock = fakeClock();
    const base = createMemoryTable({ now: () => clock.now() });
    const table = createFaultyTable(base, n > 0 ? [{ fault, on: n }] : []);
    const first = memoryWorld({ clock, table });
    let sessionId = "";
    try {
      ({ sessionId } = await first.app.send("I am a vegetarian. I live in Berlin.", { idempotencyKey: "a" }));
      await first.app.idle();
    } catch {
      // It died while the message was taken in: the client sends it again.
    }
    await first.app.stop(0).catch(() => {});
    const second = memoryWorld({ clock, table: base });
    ({ sessionId } = await second.app.send("I am a vegetarian. I live in Berlin.", { idempotencyKey: "a" }));
    await second.app.boot();
    await second.app.idle();
    for (let look = 0; look < 5; look++) {
      await clock.advance(6 * minute);
      await sweepMemory(second.app.deps, { before: clock.now() });
    }
    const events = await learnt(second, sessionId);
    const left = await second.app.deps.store.lessons.turns("acme", sessionId);
    return { texts: await second.texts(), events: events.length, left, writes: table.writes };
  }

  it("at every write, ends with the same facts, told once in the log (G1, G3)", async () => {
    const undisturbed = await play(0, "death before");
    expect(undisturbed).toMatchObject({ texts: ["I am a vegetarian.", "I live in Berlin."], events: 1, left: [] });
    const expected = { ...undisturbed, writes: expect.any(Number) };
    for (let n = 1; n <= undisturbed.writes; n++) {
      for (const fault of ["death before", "death after", "lost answer"] as const) {
        expect(await play(n, fault), `${fault} ${n}`).toEqual(expected);
      }
    }
  });
});
