// A turn that waits for the model's provider, over deaths: the wait itself is nobody's fault, but asking the model again
// may be what the process dies of (H26, H44).
import { defineAgent } from "baton";
import { describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { ModelRateLimited } from "../../lib/core/errors.ts";
import type { Event } from "../../lib/core/event.ts";
import { maxRecoveries } from "../../lib/core/limits.ts";
import { embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { Crash, createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";

const agent = defineAgent({ name: "a", instructions: "x", model: { id: "m" } });

/** The first call is refused for `retryAfterMs`; what comes after it is the death of the process while it `kills`. */
function world(retryAfterMs: number) {
  const clock = fakeClock();
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  let [asked, processes] = [0, 0];
  const start = (kills: boolean) => {
    let dead = false;
    const table = createFaultyTable(base, [{ fault: "death before", on: () => dead }]);
    const ids = seededIds(`process ${++processes}`);
    return embed({
      agents: [agent],
      table,
      blobs,
      clock,
      ids,
      model: {
        async reply({ model }) {
          asked++;
          if (asked === 1) throw new ModelRateLimited("not now", { retryAfterMs });
          if (kills) {
            dead = true;
            throw new Crash("the process is dead");
          }
          const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
          return { model, content: [{ type: "text", text: "Here." }], stop: "end_turn", usage };
        },
      },
    });
  };
  return { clock, start, asked: () => asked };
}

const causes = (events: { event: Event }[]) =>
  events.flatMap(({ event }) => (event.type === "session.resumed" ? [event.cause] : []));

describe("a turn that asks the model again", () => {
  it("is given up when that kills the process each time (H26, H44)", async () => {
    const { start, asked } = world(2000);
    let process = start(true);
    const { sessionId } = await process.send("go");
    await process.idle();
    for (let boot = 1; boot <= maxRecoveries + 1; boot++) {
      process = start(true);
      await process.boot(`boot-${boot}`);
      await process.idle();
    }
    const head = await start(false).deps.store.log.head("acme", sessionId);
    expect(head?.state.lifecycle).toMatchObject({
      kind: "suspended",
      cause: "gave up after 3 recoveries while waiting for the model",
    });
    expect(asked()).toBe(1 + 1 + maxRecoveries);
  });

  it("after hours is not blamed for the restarts in between (H44)", async () => {
    const { clock, start } = world(3 * 3_600_000);
    let process = start(false);
    const { sessionId } = await process.send("go");
    await process.idle();
    for (let boot = 1; boot <= maxRecoveries + 1; boot++) {
      process = start(false);
      await process.boot(`boot-${boot}`);
      await process.idle();
    }
    clock.set(clock.now() + 3 * 3_600_000);
    process = start(false);
    await process.boot("late");
    await process.idle();
    const events = await process.deps.store.log.events("acme", sessionId, 0);
    expect(causes(events)).toEqual(["due"]);
    expect(events.at(-1)?.event).toMatchObject({ type: "turn.finished", endReason: "completed", answer: "Here." });
  });
});
