import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apply } from "../../lib/core/apply.ts";
import { defineAgent, type SessionPolicy, type SessionRules } from "../../lib/core/define-agent.ts";
import type { Event, ResumeCause } from "../../lib/core/event.ts";
import { carryOverFor, type Resolution, resolveSession, type Work } from "../../lib/core/resolve-session.ts";
import type { CallState, SessionState, TurnState } from "../../lib/core/state.ts";
import { created, ended, reply, user } from "./context/histories.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.parse("2026-05-05T12:00:00Z");

function rules(session: SessionPolicy = {}): SessionRules {
  return defineAgent({ name: "a", instructions: "i", model: { id: "m" }, session }).session;
}

function call(change: Partial<CallState>): CallState {
  return { index: 0, id: "c", tool: "t", effect: "once", gated: false, status: "pending", attempts: 1, ...change };
}

function session(change: Partial<SessionState> = {}, turn?: Partial<TurnState>): SessionState {
  const state = apply(null, created(), { version: 1, at: now - 30 * day });
  const opened = apply(state, user(1, "hi"), { version: 2, at: now - 30 * day });
  const open = turn && opened.turn ? { ...opened.turn, ...turn } : null;
  return { ...opened, lastUserAt: now - hour, turn: open, ...change };
}

function resolve(state: SessionState | null, policy: SessionPolicy = {}, work?: Work): Resolution {
  return resolveSession(state && { lastUserAt: state.lastUserAt }, state, rules(policy), now, work);
}

const fresh = (reason: string, carryOver: string) => ({ kind: "fresh", reason, carryOver });
const pending = (ago: number, cause: ResumeCause = "crash") => ({ resumePending: { cause, at: now - ago } });
const suspended = { lifecycle: { kind: "suspended", cause: "stopped", at: 0 } } as const;

describe("resolveSession", () => {
  const table: [row: string, got: Resolution, wanted: object][] = [
    ["1 no pointer", resolve(null), fresh("first", "none")],
    ["1 no checkpoint", resolveSession({ lastUserAt: now }, null, rules(), now), fresh("first", "none")],
    ["2 suspended", resolve(session(suspended)), fresh("suspended", "handoff")],
    [
      "2 suspended, whatever else",
      resolve(session({ ...suspended, ...pending(0), lastUserAt: 0 }, {}), { reset: "off" }),
      fresh("suspended", "handoff"),
    ],
    ["3 marked just now", resolve(session(pending(minute))), { kind: "resume", cause: "crash" }],
    [
      "3 a turn is open, user long gone",
      resolve(session({ ...pending(minute, "shutdown"), lastUserAt: now - 3 * day }, {})),
      { kind: "resume", cause: "shutdown" },
    ],
    [
      "4 no turn, user long gone",
      resolve(session({ ...pending(minute), lastUserAt: now - day })),
      fresh("idle", "none"),
    ],
    ["4 marked too long ago", resolve(session(pending(day), {})), fresh("idle", "none")],
    [
      "3 reset off: always",
      resolve(session({ ...pending(9 * day), lastUserAt: 0 }), { reset: "off" }),
      { kind: "resume", cause: "crash" },
    ],
    [
      "3 within a longer limit",
      resolve(session(pending(2 * day), {}), { resumeWithin: "3d" }),
      { kind: "resume", cause: "crash" },
    ],
    [
      "5 running execution",
      resolve(session({}, {}), {}, { at: now - hour, running: true }),
      { kind: "continue", queued: true },
    ],
    [
      "5 live lease (H61)",
      resolve(
        session({ lastUserAt: now - 50 * minute }, { calls: [call({ status: "started", leaseUntil: now + 1 })] }),
        { idleAfter: "30m" },
        { at: now - 50 * minute },
      ),
      { kind: "continue", queued: true },
    ],
    [
      "5 pending approval",
      resolve(
        session({ lastUserAt: now - 4 * day }, { calls: [call({ status: "asking" })] }),
        {},
        { at: now - 4 * day },
      ),
      { kind: "continue", queued: true },
    ],
    [
      "5 waits for the model",
      resolve(session({}, { retry: { at: now + hour, attempt: 1, errorName: "x" } }), {}, { at: now - hour }),
      { kind: "continue", queued: true },
    ],
    [
      "5 silent for a moment",
      resolve(session({}, {}), {}, { at: now - 14 * minute }),
      { kind: "continue", queued: true },
    ],
    [
      "5 work of 4 days (H61)",
      resolve(session({ lastUserAt: now - 4 * day }, {}), {}, { at: now, running: true }),
      { kind: "continue", queued: true },
    ],
    [
      "6 silent for long (H61)",
      resolve(session({}, {}), {}, { at: now - 40 * minute }),
      { kind: "resume", cause: "stuck" },
    ],
    [
      "6 dead lease",
      resolve(
        session({}, { calls: [call({ status: "started", leaseUntil: now - hour })] }),
        {},
        { at: now - 2 * hour },
      ),
      { kind: "resume", cause: "stuck" },
    ],
    [
      "6 decided and not run",
      resolve(session({}, { calls: [call({ approval: "approved" })] }), {}, { at: now - hour }),
      { kind: "resume", cause: "stuck" },
    ],
    [
      "6 stuck before idle",
      resolve(session({ lastUserAt: now - 2 * day }, {}), {}, { at: now - 2 * day }),
      { kind: "resume", cause: "stuck" },
    ],
    [
      "maxDefer after the idle limit",
      resolve(session({ lastUserAt: now - 8 * day }, {}), {}, { at: now, running: true }),
      fresh("maxDefer", "handoff"),
    ],
    [
      "maxDefer not yet",
      resolve(session({ lastUserAt: now - 8 * day + 1 }, {}), {}, { at: now, running: true }),
      { kind: "continue", queued: true },
    ],
    [
      "maxDefer never with reset off",
      resolve(session({ lastUserAt: 0 }, {}), { reset: "off" }, { at: now, running: true }),
      { kind: "continue", queued: true },
    ],
    ["7 idle", resolve(session({ lastUserAt: now - day })), fresh("idle", "none")],
    ["7 not yet", resolve(session({ lastUserAt: now - day + 1 })), { kind: "continue" }],
    [
      "7 a waiting message counts",
      resolveSession({ lastUserAt: now - 1 }, session({ lastUserAt: now - day }), rules(), now),
      { kind: "continue" },
    ],
    ["7 idle before daily", resolve(session({ lastUserAt: now - day }), { reset: "both" }), fresh("idle", "none")],
    ["8 daily", resolve(session({ lastUserAt: now - 9 * hour }), { reset: "daily" }), fresh("daily", "handoff")],
    [
      "8 boundary not passed",
      resolve(session({ lastUserAt: now - 8 * hour }), { reset: "daily" }),
      { kind: "continue" },
    ],
    [
      "8 the session's own zone",
      resolve(session({ lastUserAt: now - 8 * hour }), { reset: "daily", timeZone: "America/New_York" }),
      fresh("daily", "handoff"),
    ],
    [
      "8 the user was just active",
      resolve(session({ lastUserAt: now - 14 * minute }), { reset: "daily", dailyAt: 12 }),
      { kind: "continue" },
    ],
    [
      "8 the guard is over",
      resolve(session({ lastUserAt: now - 15 * minute }), { reset: "daily", dailyAt: 12 }),
      fresh("daily", "handoff"),
    ],
    [
      "8 not with reset idle",
      resolve(session({ lastUserAt: now - 9 * hour }), { reset: "idle" }),
      { kind: "continue" },
    ],
    ["9 reset off", resolve(session({ lastUserAt: 0 }), { reset: "off" }), { kind: "continue" }],
    ["9 the clock stepped back", resolve(session({ lastUserAt: now + hour }), { reset: "both" }), { kind: "continue" }],
    [
      "closed, pointer not yet moved",
      resolve(session({ lifecycle: { kind: "closed", reason: "daily", at: 0 } })),
      fresh("daily", "handoff"),
    ],
  ];
  it.each(table)("row %s", (_, got, wanted) => {
    expect(got).toEqual(wanted);
  });

  const kinds = {
    fresh: session({ lastUserAt: now - minute }),
    idle: session({ lastUserAt: now - 2 * day }),
    "past the daily boundary": session({ lastUserAt: now - 9 * hour }),
    "resume_pending fresh": session({ ...pending(minute), lastUserAt: now - 9 * hour }, {}),
    "resume_pending old": session({ ...pending(2 * day), lastUserAt: now - 2 * day }, {}),
    "suspended with an open approval": session({ ...suspended }, { calls: [call({ status: "asking" })] }),
  };
  const wanted: Record<keyof typeof kinds, Record<"off" | "idle" | "daily" | "both", string>> = {
    fresh: { off: "continue", idle: "continue", daily: "continue", both: "continue" },
    idle: { off: "continue", idle: "idle", daily: "daily", both: "idle" },
    "past the daily boundary": { off: "continue", idle: "continue", daily: "daily", both: "daily" },
    "resume_pending fresh": { off: "resume", idle: "resume", daily: "resume", both: "resume" },
    "resume_pending old": { off: "resume", idle: "idle", daily: "idle", both: "idle" },
    "suspended with an open approval": { off: "suspended", idle: "suspended", daily: "suspended", both: "suspended" },
  };
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const resets = ["off", "idle", "daily", "both"] as const;
  it.each(names.flatMap((name) => resets.map((reset) => [name, reset] as const)))(
    "gives %s with reset %s one answer, warm, cold and after failover (H60)",
    (name, reset) => {
      // Warm: the state at hand. Cold: read from the store. Failover: another process, nothing known of the work.
      const warm = resolve(kinds[name], { reset }, { at: now - minute });
      const cold = resolve(JSON.parse(JSON.stringify(kinds[name])), { reset }, { at: now - minute });
      const failover = resolve(JSON.parse(JSON.stringify(kinds[name])), { reset });
      expect([cold, failover]).toEqual([warm, warm]);
      expect(warm.kind === "fresh" ? warm.reason : warm.kind).toBe(wanted[name][reset]);
    },
  );

  const anyPolicy: fc.Arbitrary<SessionPolicy> = fc.record({
    reset: fc.constantFrom(...resets),
    timeZone: fc.constantFrom("UTC", "Asia/Shanghai", "America/New_York"),
    dailyAt: fc.nat(23),
  });
  const anyTime = fc.integer({ min: now - 40 * day, max: now + day });
  const anyState = fc
    .record({ lastUserAt: anyTime, marked: fc.option(anyTime), open: fc.boolean(), asking: fc.boolean() })
    .map(({ lastUserAt, marked, open, asking }) =>
      session(
        { lastUserAt, ...(marked === null ? {} : { resumePending: { cause: "crash" as const, at: marked } }) },
        open ? { calls: asking ? [call({ status: "asking" })] : [] } : undefined,
      ),
    );

  it("lets suspended beat everything (G11)", () => {
    fc.assert(
      fc.property(anyState, anyPolicy, anyTime, (state, policy, at) => {
        expect(resolve({ ...state, ...suspended }, policy, { at })).toMatchObject({
          kind: "fresh",
          reason: "suspended",
        });
      }),
    );
  });

  it("lets a recent resume mark on an open turn beat idle and daily (G11)", () => {
    fc.assert(
      fc.property(anyState, anyPolicy, fc.nat(day - 1), (state, policy, ago) => {
        fc.pre(state.turn !== null);
        expect(resolve({ ...state, ...pending(ago) }, policy)).toEqual({ kind: "resume", cause: "crash" });
      }),
    );
  });

  it("never resets with reset off", () => {
    fc.assert(
      fc.property(anyState, anyTime, (state, at) => {
        expect(resolve(state, { reset: "off" }, { at }).kind).not.toBe("fresh");
      }),
    );
  });

  it("is not re-armed by recovery: nothing but a user's message moves the last user activity (G11, H60)", () => {
    const recovery = fc.constantFrom<Event>(
      { type: "session.resume_marked", cause: "crash" },
      { type: "session.resumed", cause: "crash", owner: "y", voidLeases: true },
      { type: "turn.continued", segment: 1, owner: "z" },
      { type: "notice", kind: "n", text: "t" },
      { type: "compaction.requested", by: "sweep" },
      { type: "stop.requested", reason: "r", by: "b", thenSuspend: false },
      reply(1, { calls: ["a"] }),
    );
    const steps = fc.array(fc.tuple(recovery, fc.nat(10 * day)), { maxLength: 12 });
    fc.assert(
      fc.property(steps, (happened) => {
        const born = apply(null, created(), { version: 1, at: 0 });
        let state = apply(born, user(1, "hi"), { version: 2, at: 0 });
        let at = 0;
        for (const [i, [event, later]] of happened.entries()) {
          at += later;
          state = apply(state, event, { version: i + 3, at });
          expect(state.lastUserAt).toBe(0);
        }
        state = apply(state, ended(1), { version: 99, at });
        const resolved = resolveSession({ lastUserAt: 0 }, state, rules({ reset: "idle" }), Math.max(at, day));
        expect(resolved).toEqual(fresh("idle", "none"));
      }),
    );
  });
});

describe("carryOverFor", () => {
  it("is the policy's, else the handoff record for suspended and daily and none for idle", () => {
    expect(["idle", "daily", "suspended", "first"].map((reason) => carryOverFor(reason as "idle", {}))).toEqual([
      "none",
      "handoff",
      "handoff",
      "none",
    ]);
    expect(carryOverFor("idle", { carryOver: "handoff" })).toBe("handoff");
    expect(carryOverFor("daily", { carryOver: "none" })).toBe("none");
  });
});
