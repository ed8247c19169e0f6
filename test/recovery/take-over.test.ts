// Several find the same turn without an owner: the event of its execution, the sweeper, a message. One execution takes
// it; a second one would fence off the first, which is at work.
import { defineAgent } from "baton";
import { describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { maxRecoveries } from "../../lib/core/limits.ts";
import { sweepSession } from "../../lib/sessions/sweep.ts";
import { embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { Crash, createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";

const tenant = "acme";
const agent = defineAgent({ name: "a", instructions: "x", model: { id: "m" } });

/** A turn whose process died `deaths` times while it asked the model. */
async function withDeadOwner(deaths: number) {
  const clock = fakeClock();
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  const start = (name: string, kills: boolean) => {
    let dead = false;
    const table = createFaultyTable(base, [{ fault: "death before", on: () => dead }]);
    const answering = replayModel([{ text: "Done." }]);
    const model = {
      reply: (...given: Parameters<typeof answering.reply>) => {
        if (!kills) return answering.reply(...given);
        dead = true;
        return Promise.reject(new Crash("the process is dead"));
      },
    };
    return embed({ agents: [agent], model, table, blobs, clock, ids: seededIds(name) });
  };
  const first = start("first", true);
  const { sessionId } = await first.send("go");
  await first.idle();
  for (let death = 1; death < deaths; death++) {
    const next = start(`death ${death}`, true);
    await next.boot(`boot ${death}`);
    await next.idle();
  }
  const app = start("last", false);
  const events = async () => (await app.deps.store.log.events(tenant, sessionId, 0)).map(({ event }) => event.type);
  return { app, events, at: { tenant, sessionId } };
}

describe("a turn without an owner", () => {
  it("is taken over once by executions that were started for it at once (H12, H16)", async () => {
    const { app, events, at } = await withDeadOwner(1);
    const looks = ["event", "sweep", "message"].map((slot) => sweepSession(app.deps, at, { cause: "stuck", slot }));
    expect(await Promise.all(looks)).toEqual(["resumed", "resumed", "resumed"]);
    await app.idle();
    const resumed = ["session.created", "turn.started", "session.resumed", "model.replied", "turn.finished"];
    expect(await events()).toEqual(resumed);
  });

  it("is not given up when it goes on because a person asks for it (H26)", async () => {
    const { app, events, at } = await withDeadOwner(maxRecoveries + 1);
    const head = await app.deps.store.log.head(tenant, at.sessionId);
    expect(head?.state.recoveries).toBe(maxRecoveries);
    await sweepSession(app.deps, at, { cause: "requested", slot: "resume" });
    await app.idle();
    expect((await events()).slice(-3)).toEqual(["session.resumed", "model.replied", "turn.finished"]);
  });
});
