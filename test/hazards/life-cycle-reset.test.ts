// Resets: one decision, one reason, one notice, and no message lost, whatever dies in between.
import { describe, expect, it } from "vitest";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { isDisposition } from "../../lib/core/errors.ts";
import type { Table } from "../../lib/ports/table.ts";
import type { Accepted } from "../../lib/sessions/accept.ts";
import { stopSession } from "../../lib/sessions/control.ts";
import { resetSession } from "../../lib/sessions/reset-session.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable, type FaultPlan } from "../../lib/testing/faulty-table.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";
import {
  allTurns,
  day,
  hour,
  key,
  lifeCycleWorld,
  minute,
  tenant,
  told,
  type World,
} from "../support/life-cycle-world.ts";

const at = (sessionId: string) => ({ tenant, sessionId, user: "ann" });

async function headOf(world: World, sessionId: string) {
  const head = await world.app.deps.store.log.head(tenant, sessionId);
  if (!head) throw new Error("no such session");
  return head;
}

describe("a reset", () => {
  it("closes the old session with its reason, names the parent, and gives one notice to user and model (H60, G11)", async () => {
    const world = lifeCycleWorld();
    const first = await world.say("M1");
    await world.clock.advance(25 * hour);
    const second = await world.say("M2");
    const third = await world.say("M3");
    expect(second.sessionId).not.toBe(first.sessionId);
    expect([first.notice, second.notice, third.notice]).toEqual([
      undefined,
      { kind: "session_reset", reason: "idle", parent: first.sessionId },
      undefined,
    ]);
    const old = await headOf(world, first.sessionId);
    expect(old.state.lifecycle).toMatchObject({ kind: "closed", reason: "idle", successor: second.sessionId });
    expect((await headOf(world, second.sessionId)).state.parent).toEqual({
      sessionId: first.sessionId,
      version: old.version,
    });
    expect((await world.events(first.sessionId)).at(-1)).toMatchObject({ type: "session.closed", reason: "idle" });
    // In the one context, once; the conversation before is not in it.
    const asked = told(world.requests[1]);
    expect(asked.split("closed after a long time").length - 1).toBe(1);
    expect(asked).not.toContain("M1");
    expect(told(world.requests[2]).split("closed after a long time").length - 1).toBe(1);
  });

  it("repeats its notice only to the request that got it", async () => {
    const world = lifeCycleWorld();
    await world.say("M1");
    await world.clock.advance(25 * hour);
    const second = await world.say("M2", { idempotencyKey: "two" });
    const again = await world.say("M2", { idempotencyKey: "two" });
    expect(again).toEqual({ ...second, status: "started" });
    expect(second.notice?.reason).toBe("idle");
  });

  it("carries the handoff with what has really happened over from a suspended session, none from an idle one (H60)", async () => {
    const suspended = lifeCycleWorld();
    const first = await suspended.say("work 7");
    await stopSession(suspended.app.deps, at(first.sessionId), { reason: "enough" });
    const next = await suspended.say("M2");
    expect(next.notice?.reason).toBe("suspended");
    expect((await suspended.events(next.sessionId))[0]).toMatchObject({
      type: "session.created",
      handoff: { sideEffects: [{ action: "work", target: '{"n":7}', atTurn: 1, status: "done" }] },
    });
    const idle = lifeCycleWorld();
    await idle.say("work 7");
    await idle.clock.advance(25 * hour);
    const fresh = await idle.say("M2");
    expect((await idle.events(fresh.sessionId))[0]).not.toHaveProperty("handoff");
  });

  it("ends an open turn that was deferred too long, in the same write, with its true reason (H61)", async () => {
    const world = lifeCycleWorld({
      session: { maxDefer: "2d" },
      approval: { approvers: ["b@x.example"], expiresIn: "20d" },
    });
    const first = await world.send("work 1");
    while (!(await headOf(world, first.sessionId)).state.turn?.calls.some((call) => call.status === "asking"))
      await settle();
    await world.clock.advance(2 * day);
    const waiting = await world.send("M2");
    expect(waiting).toMatchObject({ sessionId: first.sessionId, status: "queued", position: 1 });
    await world.clock.advance(3 * day + minute);
    const fresh = await world.send("M3");
    await world.app.idle();
    expect(fresh.notice).toEqual({ kind: "session_reset", reason: "maxDefer", parent: first.sessionId });
    expect((await world.events(first.sessionId)).slice(-3)).toMatchObject([
      { type: "turn.failed", endReason: "reset", closes: { reason: "maxDefer", successor: fresh.sessionId } },
      { type: "session.closed", reason: "maxDefer", successor: fresh.sessionId },
      { type: "approval.decided", status: "cancelled", reason: "the session was closed (maxDefer)" },
    ]);
    expect(await allTurns(world.app, first.sessionId)).toMatchObject([
      { texts: ["work 1"] },
      { sessionId: fresh.sessionId, turn: 1, texts: ["M2"] },
      { sessionId: fresh.sessionId, turn: 2, texts: ["M3"] },
    ]);
    expect(world.ran).toEqual([]);
  });
});

describe("a message to a session of any state", () => {
  type State =
    | "fresh"
    | "idle"
    | "past the daily boundary"
    | "resume pending"
    | "resume pending, old"
    | "suspended with an open approval";
  type Expected = string | null;
  const expected: Record<State, Record<"off" | "idle" | "daily", Expected>> = {
    fresh: { off: null, idle: null, daily: null },
    idle: { off: null, idle: "idle", daily: "daily" },
    "past the daily boundary": { off: null, idle: null, daily: "daily" },
    "resume pending": { off: null, idle: null, daily: null },
    "resume pending, old": { off: null, idle: "idle", daily: "idle" },
    "suspended with an open approval": { off: "suspended", idle: "suspended", daily: "suspended" },
  };
  const cases = Object.entries(expected).flatMap(([state, byPolicy]) =>
    Object.entries(byPolicy).flatMap(([reset, reason]) =>
      (["warm", "cold", "after the pointer's end"] as const).map((start) => ({
        state: state as State,
        reset: reset as "off",
        reason,
        start,
      })),
    ),
  );

  it.each(cases)(
    "$state, reset $reset, $start: $reason, told once (H60, G11)",
    async ({ state, reset, reason, start }) => {
      const clock = fakeClock();
      const table = createMemoryTable({ now: () => clock.now() });
      const blobs = createMemoryBlobs();
      const options = {
        clock,
        table,
        blobs,
        session: { reset },
        ...(state.startsWith("suspended")
          ? { approval: { approvers: ["b@x.example"], expiresIn: "9d" as const } }
          : {}),
      };
      const before = lifeCycleWorld({ ...options, ids: seededIds("before") });
      const { sessionId } = await bring(before, state);
      const after = start === "warm" ? before : lifeCycleWorld({ ...options, ids: seededIds("after") });
      if (start === "after the pointer's end") {
        await table.remove({ pk: `${tenant}#key:${encodeURIComponent(key)}`, sk: "POINTER" });
      }
      const sent = await after.send("M2");
      after.model.open();
      await after.app.idle();
      expect(sent.notice?.reason ?? null).toBe(reason);
      expect(sent.sessionId === sessionId).toBe(reason === null);
      const again = await after.say("M3");
      expect([again.notice, again.sessionId]).toEqual([undefined, sent.sessionId]);
      const created = (await after.events(sent.sessionId))[0];
      expect(created).toMatchObject(reason === null ? { reason: "first" } : { reason, parent: { sessionId } });
      const closed = (await after.events(sessionId)).filter((event) => event.type === "session.closed");
      expect(closed.map((event) => event.reason)).toEqual(reason === null ? [] : [reason]);
      const own = (await allTurns(after.app, sessionId))
        .flatMap(({ texts }) => texts)
        .filter((text) => text !== "work 1");
      expect(own).toEqual(["M1", "M2", "M3"].slice(state.startsWith("suspended") ? 1 : 0));
    },
  );

  /** A session in that state, the clock at the moment of the next message. */
  async function bring(world: World, state: State): Promise<Accepted> {
    if (state.startsWith("suspended")) {
      const accepted = await world.send("work 1");
      while ((await headOf(world, accepted.sessionId)).state.turn?.calls[0]?.status !== "asking") await settle();
      await stopSession(world.app.deps, at(accepted.sessionId), { reason: "enough" });
      await world.app.idle();
      return accepted;
    }
    if (state.startsWith("resume")) world.model.hold();
    const accepted = await world.send("M1");
    if (state.startsWith("resume")) {
      await world.model.reached;
      const head = await headOf(world, accepted.sessionId);
      await world.app.deps.store.log.append(
        head,
        { type: "session.resume_marked", cause: "execution_failed" },
        { next: () => "test/mark" },
      );
    } else await world.app.idle();
    await world.clock.advance(
      {
        fresh: hour,
        idle: 25 * hour,
        "past the daily boundary": 17 * hour,
        "resume pending": hour,
        "resume pending, old": 26 * hour,
      }[state as "fresh"] ?? 0,
    );
    return accepted;
  }
});

describe("recovery", () => {
  it("never re-arms the idle clock, and an expired pointer with an open turn is no reset (H60, H61)", async () => {
    const clock = fakeClock();
    const table = createMemoryTable({ now: () => clock.now() });
    const options = { clock, table, blobs: createMemoryBlobs(), session: { idleAfter: "30m" as const } };
    const dead = lifeCycleWorld({ ...options, ids: seededIds("dead") });
    dead.model.hold();
    const { sessionId } = await dead.send("work 1");
    await dead.model.reached;
    const sentAt = clock.now();
    await clock.advance(50 * minute);
    const world = lifeCycleWorld({ ...options, ids: seededIds("next") });
    world.tool.hold();
    await world.app.boot();
    await world.tool.reached;
    expect(await world.app.deps.store.pointers.get(tenant, key)).toEqual({
      sessionId,
      lastUserAt: sentAt,
      expired: true,
    });
    const queued = await world.send("M2");
    expect(queued).toMatchObject({ sessionId, status: "queued" });
    expect(queued.notice).toBeUndefined();
    world.tool.open();
    await world.app.idle();
    await world.app.sweep();
    expect(await world.app.deps.store.pointers.get(tenant, key)).toMatchObject({ lastUserAt: sentAt + 50 * minute });
    await clock.advance(31 * minute);
    await world.app.sweep();
    expect((await world.say("M3")).notice?.reason).toBe("idle");
    expect(world.ran).toEqual([1]);
  });

  it("of a turn that stands still is started by the message, with the true cause (H61)", async () => {
    const clock = fakeClock();
    const options = { clock, table: createMemoryTable({ now: () => clock.now() }), blobs: createMemoryBlobs() };
    const dead = lifeCycleWorld({ ...options, ids: seededIds("dead") });
    dead.model.hold();
    const { sessionId } = await dead.send("M1");
    await dead.model.reached;
    await clock.advance(40 * minute);
    const world = lifeCycleWorld({ ...options, ids: seededIds("next") });
    expect(await world.say("M2")).toMatchObject({ sessionId, status: "queued", position: 1 });
    expect(
      (await world.events(sessionId)).map((event) => ("cause" in event ? [event.type, event.cause] : event.type)),
    ).toEqual([
      "session.created",
      "turn.started",
      ["session.resume_marked", "stuck"],
      ["session.resumed", "stuck"],
      "model.replied",
      "turn.finished",
      "turn.started",
      "model.replied",
      "turn.finished",
    ]);
  });

  it("does not take a turn for stuck whose execution runs: a background job of four days (H61)", async () => {
    const world = lifeCycleWorld();
    world.model.hold();
    const { sessionId } = await world.send("work 1");
    await world.model.reached;
    await world.clock.advance(4 * day);
    expect(await world.send("M2")).toMatchObject({ sessionId, status: "queued" });
    world.model.open();
    await world.app.idle();
    expect((await world.events(sessionId)).filter((event) => event.type.startsWith("session.resume"))).toEqual([]);
    expect(world.ran).toEqual([1]);
  });
});

describe("a reset that is cut off", () => {
  /** Suspended, with M2 and M3 held back in its inbox. */
  async function suspendedWithWaiting(table: Table, clock: World["clock"], blobs = createMemoryBlobs()) {
    const world = lifeCycleWorld({ clock, table, blobs, ids: seededIds("before") });
    world.tool.hold();
    const { sessionId } = await world.send("work 1");
    await world.tool.reached;
    await world.send("M2");
    await world.send("M3");
    await stopSession(world.app.deps, at(sessionId), { reason: "enough" });
    world.tool.open();
    await world.app.idle();
    return { sessionId, blobs };
  }

  async function cutOff(fault: FaultPlan[number], repeat: boolean) {
    const clock = fakeClock();
    const base = createMemoryTable({ now: () => clock.now() });
    const { sessionId, blobs } = await suspendedWithWaiting(base, clock);
    const table = createFaultyTable(base, [fault]);
    const first = lifeCycleWorld({ clock, table, blobs, ids: seededIds("first") });
    const answers: Accepted[] = [];
    const send = async (world: World): Promise<void> => {
      try {
        answers.push(await world.send("M4", { idempotencyKey: "four" }));
      } catch (error) {
        if (isDisposition(error, "Transient")) return send(world);
        if (!table.dead) throw error;
      }
    };
    await send(first);
    await first.app.idle();
    const next = lifeCycleWorld({ clock, table: base, blobs, ids: seededIds("next") });
    await next.app.boot();
    await next.app.idle();
    if (repeat) await send(next);
    await clock.advance(2 * minute);
    await next.app.sweep();
    await next.app.idle();
    const closed = (await headOf(next, sessionId)).state.lifecycle.kind === "closed";
    const texts = (await allTurns(next.app, sessionId)).map((turn) => turn.texts.join());
    return { texts, closed, answers, dead: table.dead, writes: table.writes };
  }

  it("is finished by the repeated request, after a death at any write: each message in one turn, in order (H60, G7)", {
    timeout: 60_000,
  }, async () => {
    for (const kind of ["death before", "death after", "lost answer", "lost request"] as const) {
      for (let n = 1; ; n++) {
        const { texts, answers, writes } = await cutOff({ fault: kind, on: n }, true);
        if (n > writes) {
          expect(n).toBeGreaterThan(15);
          break;
        }
        const where = { kind, n };
        expect({ ...where, texts }).toEqual({ ...where, texts: ["work 1", "M2", "M3", "M4"] });
        expect({ ...where, reasons: answers.map((answer) => answer.notice?.reason) }).toEqual({
          ...where,
          reasons: answers.map(() => "suspended"),
        });
      }
    }
  });

  it("is finished by the sweeper when nobody repeats: what had moved runs, what had not is held back (H60)", {
    timeout: 60_000,
  }, async () => {
    const outcomes = new Set<string>();
    for (let n = 1; n < 30; n++) {
      const { texts, closed, dead } = await cutOff({ fault: "death after", on: n }, false);
      if (!dead) break;
      const [work, ...rest] = texts;
      expect(work).toBe("work 1");
      expect(closed ? ["M2,M3", "M2,M3,M4"] : [""]).toContain(rest.join());
      outcomes.add(rest.join());
    }
    expect([...outcomes].sort()).toEqual(["", "M2,M3", "M2,M3,M4"]);
  });

  it("opens one session for many messages in the same instant, and tells one of them (H60, H57)", async () => {
    for (const count of [2, 10]) {
      const clock = fakeClock();
      const table = createMemoryTable({ now: () => clock.now() });
      const { sessionId, blobs } = await suspendedWithWaiting(table, clock);
      const world = lifeCycleWorld({ clock, table, blobs, ids: seededIds("many") });
      const sent = await Promise.all(Array.from({ length: count }, (_, i) => world.send(`M${10 + i}`)));
      await world.app.idle();
      expect(new Set(sent.map((answer) => answer.sessionId)).size).toBe(1);
      expect(sent.filter((answer) => answer.notice)).toHaveLength(1);
      const [, second, third, ...rest] = (await allTurns(world.app, sessionId)).map((turn) => turn.texts.join());
      expect([second, third]).toEqual(["M2", "M3"]);
      expect(rest.sort()).toEqual(Array.from({ length: count }, (_, i) => `M${10 + i}`).sort());
    }
  });

  it("loses no message that is accepted while a person resets (H57, G7)", async () => {
    for (let n = 1; n < 25; n++) {
      const clock = fakeClock();
      const base = createMemoryTable({ now: () => clock.now() });
      let meddle: Promise<unknown> = Promise.resolve();
      const blobs = createMemoryBlobs();
      const other = lifeCycleWorld({ clock, table: base, blobs, ids: seededIds("other") });
      const { sessionId } = await other.say("M1");
      const table = createFaultyTable(base, [
        {
          fault: "delay",
          on: ({ call }) => call === n,
          get until() {
            meddle = resetSession(other.app.deps, at(sessionId));
            return meddle;
          },
        },
      ]);
      const world = lifeCycleWorld({ clock, table, blobs, ids: seededIds("slow") });
      const sent = await world.say("M2");
      await meddle;
      await other.app.idle();
      await world.app.sweep();
      await world.app.idle();
      const texts = (await allTurns(world.app, sessionId)).map((turn) => turn.texts.join());
      expect({ n, texts }).toEqual({ n, texts: ["M1", "M2"] });
      expect(sent.turn).toBeGreaterThan(0);
    }
  });
});

const settle = () => new Promise((resolve) => setImmediate(resolve));
