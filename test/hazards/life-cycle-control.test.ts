// Stop, resume, reset, retry, rollback, fork, compact: while the agent runs, while it is stuck, and between turns.
import { describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { ModelRejected } from "../../lib/core/errors.ts";
import { compactSession } from "../../lib/sessions/compact-session.ts";
import { stopSession } from "../../lib/sessions/control.ts";
import { resetSession } from "../../lib/sessions/reset-session.ts";
import { resumeSession } from "../../lib/sessions/resume-session.ts";
import { liftTenantStop, stopTenant } from "../../lib/sessions/stop-tenant.ts";
import { forkSession } from "../../lib/sessions/time-travel/fork-session.ts";
import { retrySession } from "../../lib/sessions/time-travel/retry-session.ts";
import { rollbackSession } from "../../lib/sessions/time-travel/rollback-session.ts";
import { sessionTree } from "../../lib/sessions/tree.ts";
import { waitForMessage } from "../../lib/sessions/wait.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";
import { allTurns, day, hour, lifeCycleWorld, tenant, told, type World } from "../support/life-cycle-world.ts";

const at = (sessionId: string) => ({ tenant, sessionId, user: "ann" });
const tree = (world: World, sessionId: string) => sessionTree(world.app.deps, tenant, sessionId);
const types = async (world: World, sessionId: string) => (await world.events(sessionId)).map((event) => event.type);

/** A session whose turn was open in a process that is dead, and a process that knows nothing of it. */
async function stuck() {
  const clock = fakeClock();
  const storage = { clock, table: createMemoryTable({ now: () => clock.now() }), blobs: createMemoryBlobs() };
  const dead = lifeCycleWorld({ ...storage, ids: seededIds("dead") });
  dead.model.hold();
  const { sessionId } = await dead.send("M1");
  await dead.model.reached;
  return { world: lifeCycleWorld({ ...storage, ids: seededIds("next") }), sessionId };
}

describe("stop", () => {
  it("ends a running turn at its next step, holds back what waits, and suspends", async () => {
    const world = lifeCycleWorld();
    world.tool.hold();
    const { sessionId } = await world.send("work 1");
    await world.tool.reached;
    await world.send("M2");
    expect((await stopSession(world.app.deps, at(sessionId), { reason: "enough" })).state.turn?.stop).toMatchObject({
      heldSeq: 2,
    });
    world.tool.open();
    await world.app.idle();
    await world.app.sweep();
    await world.app.idle();
    const after = await tree(world, sessionId);
    expect(after.session).toMatchObject({ status: "suspended", suspended: { cause: "enough" } });
    expect(after.turns.map((turn) => turn.endReason)).toEqual(["stopped"]);
    expect(after.waiting.map((message) => message.position)).toEqual([1]);
    expect(world.ran).toEqual([1]);
  });

  it("ends a stuck turn without waiting for the sweeper", async () => {
    const { world, sessionId } = await stuck();
    await stopSession(world.app.deps, at(sessionId));
    await world.app.idle();
    expect((await tree(world, sessionId)).session.status).toBe("suspended");
    expect(world.requests).toEqual([]);
  });

  it("is followed in a clean session by what is written after it, with what waited in front", async () => {
    const world = lifeCycleWorld();
    world.tool.hold();
    const { sessionId } = await world.send("work 1");
    await world.tool.reached;
    await world.send("M2");
    await stopSession(world.app.deps, at(sessionId));
    // The turn has not reached its next step yet.
    const late = await world.send("M3");
    expect(late.sessionId).toBe(sessionId);
    world.tool.open();
    await world.app.idle();
    const waiting = waitForMessage(world.app.deps, tenant, late, hour);
    await world.app.sweep();
    await world.app.idle();
    const fresh = (await allTurns(world.app, sessionId)).slice(1);
    expect(fresh.map((turn) => turn.texts)).toEqual([["M2"], ["M3"]]);
    expect(fresh.every((turn) => turn.sessionId !== sessionId)).toBe(true);
    expect(await waiting).toMatchObject({ sessionId: fresh[0]?.sessionId, turn: 2, answer: "heard M3" });
  });
});

describe("resume", () => {
  it("goes on with a suspended session, runs what was held back, and counts as activity", async () => {
    const world = lifeCycleWorld();
    world.tool.hold();
    const { sessionId } = await world.send("work 1");
    await world.tool.reached;
    await world.send("M2");
    await stopSession(world.app.deps, at(sessionId));
    world.tool.open();
    await world.app.idle();
    await world.clock.advance(3 * day);
    await resumeSession(world.app.deps, at(sessionId));
    await world.app.idle();
    const sent = await world.say("M3");
    expect(sent).toMatchObject({ sessionId, turn: 3 });
    expect(sent.notice).toBeUndefined();
    expect((await allTurns(world.app, sessionId)).map((turn) => turn.texts)).toEqual([["work 1"], ["M2"], ["M3"]]);
  });

  it("takes up an interrupted turn at once", async () => {
    const { world, sessionId } = await stuck();
    await resumeSession(world.app.deps, at(sessionId));
    await world.app.idle();
    expect(await types(world, sessionId)).toEqual([
      "session.created",
      "turn.started",
      "session.resumed",
      "model.replied",
      "turn.finished",
    ]);
  });

  it("refuses a session that works, one that is idle, and one that is closed (409)", async () => {
    const world = lifeCycleWorld();
    world.model.hold();
    const { sessionId } = await world.send("M1");
    await world.model.reached;
    await expect(resumeSession(world.app.deps, at(sessionId))).rejects.toMatchObject({ status: 409 });
    world.model.open();
    await world.app.idle();
    await expect(resumeSession(world.app.deps, at(sessionId))).rejects.toMatchObject({ status: 409 });
    await resetSession(world.app.deps, at(sessionId));
    await expect(resumeSession(world.app.deps, at(sessionId))).rejects.toMatchObject({ status: 409 });
  });
});

describe("reset", () => {
  it("closes a session whose turn runs; the zombie writes nothing more and the conversation goes on clean", async () => {
    const world = lifeCycleWorld();
    world.tool.hold();
    const { sessionId } = await world.send("work 1");
    await world.tool.reached;
    const queued = await world.send("M2");
    const fresh = await resetSession(world.app.deps, at(sessionId));
    world.tool.open();
    await world.app.idle();
    expect((await types(world, sessionId)).slice(-2)).toEqual(["turn.failed", "session.closed"]);
    expect((await tree(world, sessionId)).turns[0]).toMatchObject({
      endReason: "reset",
      messages: [{ receipt: "cancelled" }],
    });
    expect(await waitForMessage(world.app.deps, tenant, queued, 1)).toMatchObject({
      sessionId: fresh.sessionId,
      answer: "heard M2",
    });
    expect((await world.say("M3")).sessionId).toBe(fresh.sessionId);
    await expect(resetSession(world.app.deps, at(sessionId))).rejects.toMatchObject({ status: 409 });
  });

  it("works while the agent is stuck, and refuses a version that has passed (412)", async () => {
    const { world, sessionId } = await stuck();
    await expect(resetSession(world.app.deps, at(sessionId), { ifVersion: 1 })).rejects.toMatchObject({ status: 412 });
    const fresh = await resetSession(world.app.deps, at(sessionId), { ifVersion: 2 });
    expect(fresh.state.parent?.sessionId).toBe(sessionId);
    expect(await world.say("M2")).toMatchObject({
      sessionId: fresh.sessionId,
      turn: 1,
      notice: { reason: "requested" },
    });
  });
});

describe("rollback", () => {
  it("is one appended checkpoint; the context goes on from there and tells what has happened in the world", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await world.say("M1");
    const before = (await tree(world, sessionId)).session.version;
    await world.say("work 7");
    const whole = (await tree(world, sessionId)).session.version;
    const after = await rollbackSession(world.app.deps, at(sessionId), { version: before, ifVersion: whole });
    expect(after.version).toBe(whole + 1);
    await world.say("M3");
    const asked = told(world.requests.at(-1));
    expect(asked).toContain("heard M1");
    expect(asked).not.toContain("worked");
    expect(asked).toContain("side effects that have already happened");
    expect(asked.replaceAll("\\", "")).toContain('"action":"work","target":"{"n":7}"');
    const turns = (await tree(world, sessionId)).turns;
    expect(turns.map((turn) => [turn.turn, turn.rolledBack ?? false, turn.messages[0]?.receipt])).toEqual([
      [1, false, "completed"],
      [2, true, "cancelled"],
      [3, false, "completed"],
    ]);
  });

  it("ends an open turn, whose execution then writes nothing, and runs what waits", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await world.say("M1");
    world.tool.hold();
    const open = await world.send("work 2");
    await world.tool.reached;
    await world.send("M3");
    await rollbackSession(world.app.deps, at(sessionId), { version: 2 });
    world.tool.open();
    await world.app.idle();
    const asked = told(world.requests.at(-1));
    expect(asked.replaceAll("\\", "")).toContain('"action":"work","target":"{"n":2}","atTurn":2,"status":"in_doubt"');
    expect(await waitForMessage(world.app.deps, tenant, open, 1)).toMatchObject({ endReason: "rolled_back" });
    expect((await types(world, sessionId)).slice(-4)).toEqual([
      "rolled.back",
      "turn.started",
      "model.replied",
      "turn.finished",
    ]);
  });

  it("refuses versions that do not exist (400) or stand inside an open call, naming whole ones (409)", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await world.say("work 1");
    const go = (version: number) => rollbackSession(world.app.deps, at(sessionId), { version });
    expect(await types(world, sessionId)).toEqual([
      "session.created",
      "turn.started",
      "model.replied",
      "call.started",
      "call.finished",
      "model.replied",
      "turn.finished",
    ]);
    for (const version of [0, 8, 1.5])
      await expect(go(version)).rejects.toMatchObject({ status: 400, errors: [{ path: "version" }] });
    for (const version of [3, 4]) {
      await expect(go(version)).rejects.toMatchObject({
        status: 409,
        message: `version ${version} stands inside an open call; whole versions near it: 2 and 5`,
      });
    }
    await expect(go(7)).rejects.toMatchObject({ status: 409 });
    expect((await tree(world, sessionId)).session.version).toBe(7);
  });
});

describe("fork", () => {
  it("is a session with its own key whose past is the parent's up to a version; nothing is copied, the parent goes on", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await world.say("M1");
    await world.say("work 7");
    const fork = await forkSession(world.app.deps, at(sessionId), { version: 4 });
    expect(fork.state).toMatchObject({
      key: `agent:test#fork-${fork.sessionId.slice(-8)}`,
      parent: { sessionId, version: 4 },
      fork: true,
    });
    expect(fork.version).toBe(1);
    const sent = await world.say("M3", { key: fork.state.key });
    expect(sent).toMatchObject({ sessionId: fork.sessionId, turn: 1 });
    expect(sent.notice).toBeUndefined();
    const asked = told(world.requests.at(-1));
    expect(asked).toContain("heard M1");
    expect(asked).not.toContain("worked");
    expect(asked).toContain("This session is a branch");
    expect(asked.replaceAll("\\", "")).toContain('"action":"work","target":"{"n":7}"');
    expect((await world.say("M4")).sessionId).toBe(sessionId);
    expect(told(world.requests.at(-1))).not.toContain("M3");
    const again = await forkSession(world.app.deps, at(fork.sessionId), { version: 2 });
    expect(again.state.key).toBe(`agent:test#fork-${again.sessionId.slice(-8)}`);
  });

  it("works from a closed session, and refuses versions inside an open call (409)", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await world.say("work 1");
    await resetSession(world.app.deps, at(sessionId));
    await expect(rollbackSession(world.app.deps, at(sessionId), { version: 2 })).rejects.toMatchObject({ status: 409 });
    await expect(forkSession(world.app.deps, at(sessionId), { version: 3 })).rejects.toMatchObject({ status: 409 });
    const fork = await forkSession(world.app.deps, at(sessionId), { version: 7 });
    expect((await world.say("M2", { key: fork.state.key })).sessionId).toBe(fork.sessionId);
    expect(told(world.requests.at(-1))).toContain("worked");
  });
});

describe("retry", () => {
  it("goes on in the failed turn from before the step that failed; what it did before is not done again (G2)", async () => {
    let broken = true;
    const world = lifeCycleWorld({
      fails: (request) =>
        broken && JSON.stringify(request.messages).includes("worked") ? new ModelRejected("no more") : undefined,
    });
    const { sessionId } = await world.say("work 1");
    expect((await tree(world, sessionId)).turns[0]).toMatchObject({ status: "error", endReason: "error" });
    broken = false;
    const after = await retrySession(world.app.deps, at(sessionId));
    expect(after.state.turn ?? after.state.lastTurn).toMatchObject({ turn: 1 });
    await world.app.idle();
    const [turn, ...more] = (await tree(world, sessionId)).turns;
    expect(more).toEqual([]);
    expect(turn).toMatchObject({
      status: "completed",
      endReason: "completed",
      answer: expect.stringContaining("after work"),
      messages: [{ receipt: "completed" }],
    });
    expect(world.ran).toEqual([1]);
    expect((await world.say("M2")).turn).toBe(2);
  });

  it("goes on after a stop, and never uses a round twice", async () => {
    const world = lifeCycleWorld();
    world.tool.hold();
    const { sessionId } = await world.send("work 1");
    await world.tool.reached;
    await stopSession(world.app.deps, at(sessionId));
    world.tool.open();
    await world.app.idle();
    expect((await tree(world, sessionId)).session.status).toBe("suspended");
    await retrySession(world.app.deps, at(sessionId));
    await world.app.idle();
    expect((await tree(world, sessionId)).turns[0]).toMatchObject({ status: "completed" });
    const keys = (await world.events(sessionId)).flatMap((event) =>
      event.type === "call.started" ? [event.idempotencyKey] : [],
    );
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("refuses a turn that did not fail, one that is at work, and a session without one (409)", async () => {
    const world = lifeCycleWorld();
    const { sessionId } = await world.say("M1");
    await expect(retrySession(world.app.deps, at(sessionId))).rejects.toMatchObject({ status: 409 });
    world.model.hold();
    await world.send("M2");
    await world.model.reached;
    await expect(retrySession(world.app.deps, at(sessionId))).rejects.toMatchObject({ status: 409 });
    world.model.open();
    await world.app.idle();
    const fresh = await resetSession(world.app.deps, at(sessionId));
    await expect(retrySession(world.app.deps, at(fresh.sessionId))).rejects.toMatchObject({ status: 409 });
  });
});

describe("compact", () => {
  it("is noted once in the log, for a running turn and between turns", async () => {
    const world = lifeCycleWorld();
    world.model.hold();
    const { sessionId } = await world.send("M1");
    await world.model.reached;
    await compactSession(world.app.deps, at(sessionId));
    await compactSession(world.app.deps, at(sessionId));
    expect((await types(world, sessionId)).filter((type) => type === "compaction.requested")).toHaveLength(1);
    world.model.open();
    await world.app.idle();
    await stopSession(world.app.deps, at(sessionId));
    await expect(compactSession(world.app.deps, at(sessionId))).rejects.toMatchObject({ status: 409 });
  });
});

describe("the tenant's stop", () => {
  it("ends every turn at its next step, refuses messages until it is lifted, and touches no idle session", async () => {
    const world = lifeCycleWorld();
    const idle = await world.say("M1", { key: "idle" });
    world.tool.hold();
    const one = await world.send("work 1", { key: "one" });
    const two = await world.send("work 2", { key: "two" });
    await world.send("M3", { key: "two" });
    const other = await world.send("work 9", { key: "one", tenant: "rival" });
    await world.tool.reached;
    expect(await stopTenant(world.app.deps, { tenant, user: "boss" }, { reason: "fire" })).toMatchObject({
      stopped: 2,
      by: "boss",
    });
    await expect(world.send("M4", { key: "idle" })).rejects.toMatchObject({ status: 409, code: "tenant.stopped" });
    expect(await world.send("/status", { key: "idle" })).toMatchObject({ status: "completed" });
    world.tool.open();
    await world.app.idle();
    await compactSession(world.app.deps, at(idle.sessionId));
    await world.app.sweep();
    await world.app.idle();
    const statuses = await Promise.all(
      [idle, one, two].map(async ({ sessionId }) => (await tree(world, sessionId)).session.status),
    );
    expect(statuses).toEqual(["completed", "suspended", "suspended"]);
    expect((await sessionTree(world.app.deps, "rival", other.sessionId)).session.status).toBe("completed");
    await liftTenantStop(world.app.deps, tenant);
    expect(await world.say("M4", { key: "idle" })).toMatchObject({ sessionId: idle.sessionId, turn: 2 });
    await resumeSession(world.app.deps, at(two.sessionId));
    await world.app.idle();
    expect((await tree(world, two.sessionId)).turns.map((turn) => turn.endReason)).toEqual(["stopped", "completed"]);
  });

  it("reaches a session that the list did not show, at the next sweep or before its next turn", async () => {
    const { world, sessionId } = await stuck();
    await world.app.deps.store.stops.set(tenant, { reason: "fire", by: "boss", at: world.clock.now() });
    await world.clock.advance(hour);
    await world.app.sweep();
    await world.app.idle();
    expect((await tree(world, sessionId)).session).toMatchObject({ status: "suspended", suspended: { cause: "fire" } });
    expect(world.requests).toEqual([]);
  });
});
