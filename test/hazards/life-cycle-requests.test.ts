// One accepted request is one turn, however often and wherever it is delivered.
import { describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { isDisposition, ModelRejected, OrchestratorUnavailable } from "../../lib/core/errors.ts";
import { stopSession } from "../../lib/sessions/control.ts";
import { resetSession } from "../../lib/sessions/reset-session.ts";
import { waitForMessage } from "../../lib/sessions/wait.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";
import { allTurns, day, hour, lifeCycleWorld, minute, tenant, type World } from "../support/life-cycle-world.ts";

const once = { idempotencyKey: "request-1" };
const texts = async (world: World, sessionId: string) =>
  (await allTurns(world.app, sessionId)).flatMap((turn) => turn.texts);

describe("a request id", () => {
  it("gives the same turn during the run, after it, after a failure, and days later (H63, G7)", async () => {
    for (const fails of [undefined, () => new ModelRejected("no")]) {
      const world = lifeCycleWorld(fails ? { fails } : {});
      world.model.hold();
      const first = await world.send("M1", once);
      await world.model.reached;
      const during = await world.send("M1", once);
      world.model.open();
      await world.app.idle();
      const after = await world.say("M1", once);
      await world.clock.advance(6 * day);
      const late = await world.say("M1", once);
      expect([during, after, late]).toEqual([first, first, first]);
      expect(await texts(world, first.sessionId)).toEqual(["M1"]);
      expect(await waitForMessage(world.app.deps, tenant, late, 1)).toMatchObject({
        status: fails ? "error" : "completed",
      });
    }
  });

  it("sent ten times at once gives one turn (H63)", async () => {
    const world = lifeCycleWorld();
    const sent = await Promise.all(Array.from({ length: 10 }, () => world.send("M1", once)));
    await world.app.idle();
    expect(new Set(sent.map(({ messageId, sessionId, turn }) => `${sessionId} ${turn} ${messageId}`)).size).toBe(1);
    expect(await texts(world, sent[0]?.sessionId ?? "")).toEqual(["M1"]);
  });

  it("with another body is refused (422) and changes nothing; another tenant or user may use it (H63, G6)", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await world.say("M1", once);
    for (const other of [{ text: "M2" }, { text: "M1", key: "another" }, { text: "M1", busy: "steer" as const }]) {
      const { text, ...more } = other;
      await expect(world.send(text, { ...once, ...more })).rejects.toMatchObject({ status: 422 });
    }
    const rival = await world.say("M2", { ...once, tenant: "rival" });
    expect(rival).toMatchObject({ turn: 1, status: "started" });
    expect(rival.sessionId).not.toBe(sessionId);
    expect(await texts(world, sessionId)).toEqual(["M1"]);
  });

  it("finds its message where a reset has moved it, and is no activity itself (H63)", async () => {
    const world = lifeCycleWorld();
    world.tool.hold();
    const { sessionId } = await world.send("work 1");
    await world.tool.reached;
    const queued = await world.send("M2", once);
    const fresh = await resetSession(world.app.deps, { tenant, sessionId, user: "ann" });
    world.tool.open();
    await world.app.idle();
    const again = await world.say("M2", once);
    expect(again).toMatchObject({ sessionId: fresh.sessionId, turn: 1, messageId: queued.messageId });
    await world.clock.advance(2 * day);
    const late = await world.say("M2", once);
    expect(late.sessionId).toBe(fresh.sessionId);
    expect((await world.say("M3")).notice?.reason).toBe("idle");
  });

  it("of a message that a stop holds back runs it, and only once (H63)", async () => {
    const world = lifeCycleWorld();
    world.tool.hold();
    const { sessionId } = await world.send("work 1");
    await world.tool.reached;
    await world.send("M2", once);
    await stopSession(world.app.deps, { tenant, sessionId, user: "ann" });
    world.tool.open();
    await world.app.idle();
    await Promise.all([world.send("M2", once), world.send("M2", once)]);
    await world.app.idle();
    expect(await texts(world, sessionId)).toEqual(["work 1", "M2"]);
  });

  it("has one turn after a death at any write between accepting and starting (H63)", { timeout: 60_000 }, async () => {
    for (const fault of ["death before", "death after", "lost answer", "lost request"] as const) {
      for (let n = 1; ; n++) {
        const clock = fakeClock();
        const base = createMemoryTable({ now: () => clock.now() });
        const blobs = createMemoryBlobs();
        const table = createFaultyTable(base, [{ fault, on: n }]);
        const world = lifeCycleWorld({ clock, table, blobs, ids: seededIds("first") });
        await world.send("M1", once).catch((error: unknown) => {
          if (!table.dead && !isDisposition(error, "Transient")) throw error;
        });
        await world.app.idle();
        const next = lifeCycleWorld({ clock, table: base, blobs, ids: seededIds("next") });
        await next.app.boot();
        await next.app.idle();
        const { sessionId } = await next.say("M1", once);
        await clock.advance(hour);
        await next.app.sweep();
        await next.app.idle();
        expect({ fault, n, texts: await texts(next, sessionId) }).toEqual({ fault, n, texts: ["M1"] });
        if (n > table.writes) {
          expect(n).toBeGreaterThan(10);
          break;
        }
      }
    }
  });
});

describe("an event that is delivered twice", () => {
  it("in one millisecond to two workers, and again after an hour, is one turn; a new id with equal text is another (H64)", async () => {
    const clock = fakeClock();
    const storage = { clock, table: createMemoryTable({ now: () => clock.now() }), blobs: createMemoryBlobs() };
    const workers = ["one", "two"].map((name) => lifeCycleWorld({ ...storage, ids: seededIds(name) }));
    const event = { idempotencyKey: "event-1", via: "task" as const };
    const sent = await Promise.all(workers.map((worker) => worker.send("M1", event)));
    for (const worker of workers) await worker.app.idle();
    await clock.advance(60 * minute);
    const [worker] = workers;
    if (!worker) throw new Error("no worker");
    const late = await worker.say("M1", event);
    expect(new Set([...sent, late].map(({ messageId, turn }) => `${turn} ${messageId}`)).size).toBe(1);
    const other = await worker.say("M1", { ...event, idempotencyKey: "event-2" });
    expect(other.turn).toBe(2);
    expect(await texts(worker, late.sessionId)).toEqual(["M1", "M1"]);
  });

  it("leaves no mark that keeps it out when its start fails (H64)", async () => {
    const world = lifeCycleWorld();
    const { orchestrator } = world.app.deps;
    world.app.deps.orchestrator = {
      ...orchestrator,
      start: async () => {
        throw new OrchestratorUnavailable("no capacity");
      },
    };
    await expect(world.send("M1", once)).rejects.toMatchObject({ name: "OrchestratorUnavailable" });
    world.app.deps.orchestrator = orchestrator;
    const { sessionId } = await world.say("M1", once);
    expect(await texts(world, sessionId)).toEqual(["M1"]);
  });

  it("is started by the sweeper when nobody sends it again (H64, H16)", async () => {
    const world = lifeCycleWorld();
    const { orchestrator } = world.app.deps;
    world.app.deps.orchestrator = { ...orchestrator, start: async () => "exists" };
    const { sessionId } = await world.send("M1", once);
    world.app.deps.orchestrator = orchestrator;
    await world.clock.advance(2 * minute);
    await world.app.sweep();
    await world.app.idle();
    expect(await texts(world, sessionId)).toEqual(["M1"]);
  });
});
