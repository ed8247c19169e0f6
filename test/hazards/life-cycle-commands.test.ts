// Chat commands: answered without the model, also while the agent is stuck, and once for one request id.
import { describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { isDisposition, ModelRejected } from "../../lib/core/errors.ts";
import { commandHelp, readCommand } from "../../lib/sessions/commands/read-command.ts";
import { sessionTree } from "../../lib/sessions/tree.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";
import { day, lifeCycleWorld, tenant, type World } from "../support/life-cycle-world.ts";

const tree = (world: World, sessionId: string) => sessionTree(world.app.deps, tenant, sessionId);
const count = async (world: World, sessionId: string, type: string) =>
  (await world.events(sessionId)).filter((event) => event.type === type).length;

async function stuck() {
  const clock = fakeClock();
  const storage = { clock, table: createMemoryTable({ now: () => clock.now() }), blobs: createMemoryBlobs() };
  const dead = lifeCycleWorld({ ...storage, ids: seededIds("dead") });
  dead.model.hold();
  const { sessionId } = await dead.send("M1");
  await dead.model.reached;
  return { world: lifeCycleWorld({ ...storage, ids: seededIds("next") }), sessionId };
}

describe("a command", () => {
  it("is a whole text that begins with / and a known word; everything else goes to the model", () => {
    const text = (value: string) => [{ type: "text" as const, text: value }];
    const image = { type: "image" as const, mediaType: "image/png" as const, data: "" };
    expect(readCommand(text("/undo 3 "))).toEqual({ name: "undo", args: "3" });
    expect(readCommand(text("/Stop it now,\nplease"))).toEqual({ name: "stop", args: "it now,\nplease" });
    for (const other of ["/etc/passwd", "/unknown", "/", " /new", "/newer", "new", "/constructor", "say /new"]) {
      expect(readCommand(text(other)), other).toBeNull();
    }
    expect(readCommand([...text("/new"), image])).toBeNull();
  });

  it("of no known word is a message like any other", async () => {
    const world = lifeCycleWorld();
    expect(await world.say("/unknown word")).toMatchObject({ status: "started", turn: 1 });
    expect(world.requests).toHaveLength(1);
  });

  it.each(Object.keys(commandHelp))(
    "/%s is answered without the model, also when there is no session yet",
    async (name) => {
      const world = lifeCycleWorld();
      const answer = await world.say(`/${name}`);
      expect(answer).toMatchObject({ status: "completed", command: name, answer: expect.stringMatching(/\S/) });
      expect(world.requests).toEqual([]);
      // Only /new makes one.
      expect(answer.sessionId !== "").toBe(name === "new");
    },
  );

  it("works while the agent is stuck", async () => {
    const { world, sessionId } = await stuck();
    const status = await world.send("/status");
    expect(status).toMatchObject({ sessionId, turn: 1, answer: expect.stringContaining("Turn 1, round 0") });
    expect((await world.send("/fork 2")).answer).toMatch(
      /branch from version 2 is session \S+; its key is agent:test#fork-[0-9a-f]{8}$/,
    );
    await world.say("/stop that is enough");
    expect((await tree(world, sessionId)).session).toMatchObject({
      status: "suspended",
      suspended: { cause: "that is enough" },
    });
    expect((await world.send("/status")).answer).toContain("Suspended: that is enough");
    const fresh = await world.say("/new");
    expect(fresh.sessionId).not.toBe(sessionId);
    expect(fresh.notice).toMatchObject({ reason: "requested", parent: sessionId });
    expect(world.requests).toEqual([]);
    const next = await world.say("M2");
    expect(next).toMatchObject({ sessionId: fresh.sessionId, turn: 1 });
    // Told already.
    expect(next.notice).toBeUndefined();
  });

  it("goes on with a suspended session by /resume, and with a failed step by /retry", async () => {
    let broken = true;
    const world = lifeCycleWorld({ fails: () => (broken ? new ModelRejected("no") : undefined) });
    const { sessionId } = await world.say("M1");
    await world.say("/stop");
    await world.clock.advance(2 * day);
    expect(await world.say("/resume")).toMatchObject({ sessionId, answer: "The session goes on." });
    broken = false;
    expect((await world.say("/retry")).answer).toContain("Turn 1");
    expect((await tree(world, sessionId)).turns).toMatchObject([{ turn: 1, status: "completed", answer: "heard M1" }]);
    expect((await world.say("/retry")).answer).toBe("/retry is not possible: turn 1 did not fail.");
    expect(await world.say("M2")).toMatchObject({ sessionId });
  });

  it("takes turns back by /undo, and says so when there are fewer or the number is none", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await world.say("M1");
    await world.say("M2");
    await world.say("M3");
    expect((await world.say("/undo 2")).answer).toMatch(/^2 turns are taken back/);
    expect((await tree(world, sessionId)).turns.map((turn) => turn.rolledBack ?? false)).toEqual([false, true, true]);
    for (const [text, says] of [
      ["/undo 2", "there are only 1 turns to undo"],
      ["/undo two", '"two" is no number'],
      ["/undo 0", '"0" is no number'],
    ] as const) {
      expect((await world.say(text)).answer).toContain(says);
    }
    expect((await world.say("/undo")).answer).toMatch(/^The last turn is taken back/);
    expect((await world.say("/undo")).answer).toContain("there is no turn to undo");
    expect(await count(world, sessionId, "rolled.back")).toBe(2);
  });

  it("does nothing when an argument is not understood", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await world.say("M1");
    for (const text of ["/new one", "/resume now", "/retry it", "/fork x", "/fork 99", "/compact please"]) {
      expect((await world.say(text)).answer, text).toContain("is not possible");
    }
    expect((await tree(world, sessionId)).session).toMatchObject({ version: 4, status: "completed" });
  });

  it("is no activity of the conversation: /status neither resets nor keeps alive", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await world.say("M1");
    await world.clock.advance(2 * day);
    expect(await world.say("/status")).toMatchObject({ sessionId });
    expect((await world.say("M2")).notice?.reason).toBe("idle");
  });
});

describe("a repeated command", () => {
  it.each(["/undo", "/new", "/fork 4", "/stop", "/retry"])(
    "%s does once what it does, and answers the same (H63)",
    async (text) => {
      const world = lifeCycleWorld({
        fails: (request) =>
          text === "/retry" && JSON.stringify(request).includes("M2") && world.requests.length < 3
            ? new ModelRejected("no")
            : undefined,
      });
      const { sessionId } = await world.say("M1");
      await world.say("M2");
      const before = (await tree(world, sessionId)).session.version;
      const answers = await Promise.all(Array.from({ length: 5 }, () => world.send(text, { idempotencyKey: "c" })));
      await world.app.idle();
      const later = await world.say(text, { idempotencyKey: "c" });
      for (const answer of answers) expect({ ...answer, turn: 0 }).toEqual({ ...later, turn: 0 });
      const after = (await world.events(sessionId)).slice(before).map((event) => event.type);
      const wanted: Record<string, string[]> = {
        "/undo": ["rolled.back"],
        "/new": ["session.closed"],
        "/fork 4": [],
        "/stop": ["session.suspended"],
        "/retry": ["rolled.back", "session.resumed", "model.replied", "turn.finished"],
      };
      expect(after).toEqual(wanted[text]);
      await expect(world.send("/help", { idempotencyKey: "c" })).rejects.toMatchObject({ status: 422 });
    },
  );

  it("takes back one turn, whatever write the process dies at (H63)", async () => {
    for (let n = 1; ; n++) {
      const clock = fakeClock();
      const base = createMemoryTable({ now: () => clock.now() });
      const blobs = createMemoryBlobs();
      const world = lifeCycleWorld({ clock, table: base, blobs });
      const { sessionId } = await world.say("M1");
      await world.say("M2");
      const table = createFaultyTable(base, [{ fault: n % 2 ? "death after" : "lost answer", on: Math.ceil(n / 2) }]);
      const first = lifeCycleWorld({ clock, table, blobs, ids: seededIds("first") });
      await first.send("/undo", { idempotencyKey: "u" }).catch((error: unknown) => {
        if (!table.dead && !isDisposition(error, "Transient")) throw error;
      });
      const next = lifeCycleWorld({ clock, table: base, blobs, ids: seededIds("next") });
      await next.say("/undo", { idempotencyKey: "u" });
      expect({ n, undone: await count(next, sessionId, "rolled.back") }).toEqual({ n, undone: 1 });
      if (Math.ceil(n / 2) > table.writes) {
        expect(n).toBeGreaterThan(8);
        break;
      }
    }
  });
});
