// A message while a turn runs: the four policies, and every instant at which it can come.
import { describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import type { BusyPolicy } from "../../lib/sessions/accept.ts";
import { sessionTree } from "../../lib/sessions/tree.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable, type FaultPlan } from "../../lib/testing/faulty-table.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";
import { allTurns, lifeCycleWorld, tenant, told, type World } from "../support/life-cycle-world.ts";

const tree = (world: World, sessionId: string) => sessionTree(world.app.deps, tenant, sessionId);
const texts = async (world: World, sessionId: string) =>
  (await allTurns(world.app, sessionId)).map((turn) => turn.texts.join(" + "));

async function endOf(world: World, sessionId: string, turn: number) {
  return (await tree(world, sessionId)).turns.find((candidate) => candidate.turn === turn);
}

/** A turn whose tool is running. */
async function working(world: World) {
  world.tool.hold();
  const accepted = await world.send("work 1");
  await world.tool.reached;
  return accepted;
}

describe("busy policy enqueue", () => {
  it("answers each message with its position, runs them in order, and keeps a receipt of each (G7)", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await working(world);
    const queued = [await world.send("M2"), await world.send("M3")];
    expect(queued.map(({ status, position, turn }) => [status, position, turn])).toEqual([
      ["queued", 1, 2],
      ["queued", 2, 3],
    ]);
    const before = await tree(world, sessionId);
    expect(before.turns[0]?.messages.map((message) => message.receipt)).toEqual(["started"]);
    expect(before.waiting.map(({ messageId, position, receipt }) => [messageId, position, receipt])).toEqual(
      queued.map(({ messageId }, i) => [messageId, i + 1, "queued"]),
    );
    world.tool.open();
    await world.app.idle();
    expect(await texts(world, sessionId)).toEqual(["work 1", "M2", "M3"]);
    const after = await tree(world, sessionId);
    expect(after.waiting).toEqual([]);
    expect(after.turns.flatMap((turn) => turn.messages.map((message) => message.receipt))).toEqual(
      Array(3).fill("completed"),
    );
  });
});

describe("busy policy steer", () => {
  it("shows the message to the model at the next think of the running turn, once", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await working(world);
    const steered = [await world.send("M2", { busy: "steer" }), await world.send("M3", { busy: "steer" })];
    expect(steered.map(({ status, turn }) => [status, turn])).toEqual([
      ["queued", 1],
      ["queued", 1],
    ]);
    world.tool.open();
    await world.app.idle();
    expect(await texts(world, sessionId)).toEqual(["work 1 + M2 + M3"]);
    expect((await endOf(world, sessionId, 1))?.answer).toBe("heard M2, M3 after work");
    expect(world.requests).toHaveLength(2);
    expect(await world.app.deps.store.inbox.list(tenant, sessionId)).toEqual([]);
  });

  it("becomes a turn of its own when the running one ends first", async () => {
    const world = lifeCycleWorld();
    world.model.hold();
    const { sessionId } = await world.send("M1");
    await world.model.reached;
    await world.send("M2", { busy: "steer" });
    world.model.open();
    await world.app.idle();
    expect(await texts(world, sessionId)).toEqual(["M1", "M2"]);
    expect((await endOf(world, sessionId, 2))?.answer).toBe("heard M2");
  });

  it("starts a turn when none runs", async () => {
    const world = lifeCycleWorld({ session: { busy: "steer" } });
    const sent = await world.say("M1");
    expect(sent).toMatchObject({ status: "started", turn: 1 });
    expect(await texts(world, sent.sessionId)).toEqual(["M1"]);
  });
});

describe("busy policy interrupt", () => {
  it("ends the turn at its next step with what it has done in the log, then runs; nothing is suspended", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await working(world);
    const sent = await world.send("M2", { busy: "interrupt" });
    expect(sent).toMatchObject({ sessionId, status: "queued", turn: 2 });
    world.tool.open();
    await world.app.idle();
    expect(await endOf(world, sessionId, 1)).toMatchObject({
      status: "error",
      endReason: "interrupted",
      messages: [{ receipt: "cancelled" }],
    });
    expect(await endOf(world, sessionId, 2)).toMatchObject({ status: "completed", answer: "heard M2" });
    expect(world.ran).toEqual([1]);
    expect(told(world.requests.at(-1))).toContain("worked");
    expect((await tree(world, sessionId)).session.status).toBe("completed");
  });

  it("takes back what people were asked", async () => {
    const world = lifeCycleWorld({ approval: { approvers: ["b@x.example"], expiresIn: "9d" } });
    const { sessionId } = await world.send("work 1");
    while ((await tree(world, sessionId)).approvals.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await world.say("M2", { busy: "interrupt" });
    const events = await world.events(sessionId);
    expect(events.flatMap((event) => (event.type === "approval.decided" ? [event.status, event.reason] : []))).toEqual([
      "cancelled",
      "interrupted by a newer message",
    ]);
    expect((await endOf(world, sessionId, 2))?.answer).toBe("heard M2");
    expect(world.ran).toEqual([]);
  });

  it("does not interrupt a later turn when the request is repeated", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await working(world);
    await world.send("M2");
    const request = { busy: "interrupt" as const, idempotencyKey: "three" };
    await world.send("M3", request);
    world.model.hold();
    world.tool.open();
    await world.model.reached;
    expect((await tree(world, sessionId)).session.turn).toBe(2);
    await world.send("M3", request);
    world.model.open();
    await world.app.idle();
    const ends = (await tree(world, sessionId)).turns.map((turn) => turn.endReason);
    expect(ends).toEqual(["interrupted", "completed", "completed"]);
  });

  it("ends a turn that has lost its execution", async () => {
    const clock = fakeClock();
    const storage = { clock, table: createMemoryTable({ now: () => clock.now() }), blobs: createMemoryBlobs() };
    const dead = lifeCycleWorld({ ...storage, ids: seededIds("dead") });
    dead.model.hold();
    const { sessionId } = await dead.send("M1");
    await dead.model.reached;
    const world = lifeCycleWorld({ ...storage, ids: seededIds("next") });
    await world.say("M2", { busy: "interrupt" });
    expect((await tree(world, sessionId)).turns.map((turn) => turn.endReason)).toEqual(["interrupted", "completed"]);
  });
});

describe("busy policy reject", () => {
  it("takes one of ten messages in the same instant and refuses the others", async () => {
    const world = lifeCycleWorld({ session: { busy: "reject" } });
    const sent = await Promise.allSettled(Array.from({ length: 10 }, (_, i) => world.send(`M${i}`)));
    await world.app.idle();
    const taken = sent.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const refused = sent.flatMap((one) => (one.status === "rejected" ? [one.reason.name] : []));
    expect(refused).toEqual(Array(9).fill("SessionBusy"));
    expect(await texts(world, taken[0]?.sessionId ?? "")).toHaveLength(1);
  });

  it("leaves no mark: the refused request may come again with its id, and a taken one is not refused", async () => {
    const world = lifeCycleWorld();
    const first = await world.send("work 1", { busy: "reject", idempotencyKey: "one" });
    const again = world.send("work 1", { busy: "reject", idempotencyKey: "one" });
    await expect(again).resolves.toMatchObject({ messageId: first.messageId });
    await expect(world.send("M2", { busy: "reject", idempotencyKey: "two" })).rejects.toMatchObject({
      status: 409,
      code: "session.busy",
    });
    await world.app.idle();
    expect(await world.say("M2", { busy: "reject", idempotencyKey: "two" })).toMatchObject({
      status: "started",
      turn: 2,
    });
  });
});

describe("messages at every instant of a turn", () => {
  /** Two messages while the n-th call of the table waits; `fault` then befalls that call. */
  async function disturb(n: number, busy: BusyPolicy, dies: boolean) {
    const clock = fakeClock();
    const base = createMemoryTable({ now: () => clock.now() });
    const blobs = createMemoryBlobs();
    const other = lifeCycleWorld({ clock, table: base, blobs, ids: seededIds("other") });
    let sent: Promise<unknown> = Promise.resolve();
    const plan: FaultPlan = [
      {
        fault: "delay",
        on: ({ call }) => call === n,
        get until() {
          sent = other.send("M2", { busy }).then(() => other.send("M3", { busy }));
          return sent;
        },
      },
      ...(dies ? [{ fault: "death before" as const, on: ({ call }: { call: number }) => call === n + 1 }] : []),
    ];
    const table = createFaultyTable(base, plan);
    const world = lifeCycleWorld({ clock, table, blobs, ids: seededIds("world") });
    const accepted = await world.send("work 1", { idempotencyKey: "one" }).catch(() => null);
    await world.app.idle();
    const total = table.calls.length;
    await sent;
    await other.app.idle();
    if (dies) {
      const next = lifeCycleWorld({ clock, table: base, blobs, ids: seededIds("next") });
      await next.app.boot();
      await next.app.idle();
      const again = await next.say("work 1", { idempotencyKey: "one" });
      return { texts: await texts(next, again.sessionId), total };
    }
    return { texts: await texts(other, accepted?.sessionId ?? ""), total };
  }

  const cases = (["enqueue", "steer", "interrupt"] as const).flatMap((busy) =>
    [false, true].map((dies) => ({ busy, dies })),
  );
  it.each(cases)(
    "$busy (then the process dies: $dies): each is in exactly one turn, in order (H57, G7)",
    { timeout: 60_000 },
    async ({ busy, dies }) => {
      const seen = new Set<string>();
      const { total } = await disturb(Number.POSITIVE_INFINITY, busy, false);
      expect(total).toBeGreaterThan(30);
      for (let n = 1; n <= total; n++) {
        const found = await disturb(n, busy, dies);
        const all = found.texts.join(" + ").split(" + ");
        expect({ n, all: all.toSorted() }).toEqual({ n, all: ["M2", "M3", "work 1"] });
        expect({ n, order: all.indexOf("M2") < all.indexOf("M3") }).toEqual({ n, order: true });
        seen.add(found.texts.join(" | "));
      }
      expect([...seen]).toContain(busy === "steer" ? "work 1 + M2 + M3" : "work 1 | M2 | M3");
    },
  );
});
