// What an event of the life cycle makes of a session's snapshot, and which it refuses.
import { describe, expect, it } from "vitest";
import { apply } from "../../lib/core/apply.ts";
import { ImpossibleTransition } from "../../lib/core/errors.ts";
import type { Event } from "../../lib/core/event.ts";
import type { SessionState } from "../../lib/core/state.ts";
import { callFinished, callStarted, created, replied, turnFinished, turnStarted } from "../sessions/session-log.ts";

const first = apply(null, created(), { version: 1, at: 1000 });

function stateAfter(...events: Event[]): SessionState {
  return events.reduce((state, event, i) => apply(state, event, { version: i + 2, at: 1000 * (i + 2) }), first);
}

const error = { name: "SessionReset", code: "session.reset", message: "reset" };
const closes = { reason: "requested" as const, successor: "20260505_150000_00000000" };
const reset: Event = { type: "turn.failed", turn: 1, endReason: "reset", error, answer: "reset", closes };
const closed: Event = { type: "session.closed", ...closes };

describe("a session that is closed", () => {
  it("is so in the very write that ends its turn, and says it once", () => {
    const state = stateAfter(turnStarted(1), reset);
    expect(state).toMatchObject({
      turn: null,
      lifecycle: { kind: "closed", ...closes, unsaid: true },
      lastTurn: { endReason: "reset" },
    });
    const said = apply(state, closed, { version: 4, at: 5000 });
    expect(said.lifecycle).toEqual({ kind: "closed", ...closes, at: 5000 });
    expect(() => apply(said, closed, { version: 5, at: 6000 })).toThrow(ImpossibleTransition);
  });

  it("takes nothing but what is still to be told of its approvals, and its erasing", () => {
    const state = stateAfter(closed);
    const at = { version: 3, at: 5000 };
    const refused: Event[] = [
      turnStarted(1),
      { type: "session.resumed", cause: "requested", owner: "", voidLeases: false },
      { type: "session.suspended", cause: "x" },
      { type: "session.resume_marked", cause: "crash" },
      { type: "rolled.back", to: 1, by: "ann", endReason: "rolled_back", sideEffects: [] },
      { type: "compaction.requested", by: "ann" },
    ];
    for (const event of refused) expect(() => apply(state, event, at, first), event.type).toThrow(ImpossibleTransition);
    const told: Event = { type: "approval.decided", approvalId: "a", index: 0, status: "cancelled", decisions: [] };
    expect(apply(state, told, at)).toEqual(state);
    expect(apply(state, { type: "session.closed", reason: "erased" }, at).lifecycle).toMatchObject({
      reason: "erased",
    });
  });
});

describe("a stop", () => {
  it("suspends when the turn has ended, and remembers what it holds back", () => {
    const stop: Event = { type: "stop.requested", reason: "enough", by: "ann", thenSuspend: true, heldSeq: 4 };
    const ended: Event = { type: "turn.finished", turn: 1, status: "error", endReason: "stopped", answer: "" };
    expect(stateAfter(turnStarted(1), stop).lifecycle).toEqual({ kind: "open" });
    expect(stateAfter(turnStarted(1), stop, ended).lifecycle).toEqual({
      kind: "suspended",
      cause: "enough",
      at: 4000,
      heldSeq: 4,
    });
  });

  it("that interrupts suspends nothing", () => {
    const stop: Event = {
      type: "stop.requested",
      reason: "newer",
      by: "ann",
      thenSuspend: false,
      endReason: "interrupted",
    };
    const ended: Event = { type: "turn.finished", turn: 1, status: "error", endReason: "interrupted", answer: "" };
    expect(stateAfter(turnStarted(1), stop, ended)).toMatchObject({ lifecycle: { kind: "open" }, turn: null });
  });
});

describe("a retry", () => {
  it("opens the turn again as it stood, owned by nobody, with a new clock and unused rounds", () => {
    const target = stateAfter(
      turnStarted(1),
      replied(1, { calls: [{ effect: "once" }] }),
      callStarted(1, 0),
      callFinished(1, 0),
    );
    const failed = stateAfter(
      turnStarted(1),
      replied(1, { calls: [{ effect: "once" }] }),
      callStarted(1, 0),
      callFinished(1, 0),
      replied(2, { text: "bad" }),
      { ...turnFinished(1), status: "error", endReason: "error" } as Event,
      { type: "session.suspended", cause: "x" },
    );
    const event: Event = {
      type: "rolled.back",
      to: 5,
      by: "ann",
      endReason: "rolled_back",
      sideEffects: [],
      reopen: { round: 2 },
    };
    const state = apply(failed, event, { version: 9, at: 90_000 }, target);
    expect(state).toMatchObject({
      lifecycle: { kind: "open" },
      turns: 1,
      recoveries: 0,
      turn: { turn: 1, owner: "", phase: "think", round: 2, startedAt: 90_000, roundsInSegment: 0, waitedMs: 0 },
    });
    expect(state.usage).toEqual(failed.usage);
  });

  it("is refused where no turn was open", () => {
    const state = stateAfter(turnStarted(1), replied(1, { text: "done" }), turnFinished(1));
    const event: Event = {
      type: "rolled.back",
      to: 1,
      by: "ann",
      endReason: "rolled_back",
      sideEffects: [],
      reopen: { round: 1 },
    };
    expect(() => apply(state, event, { version: 5, at: 5000 }, first)).toThrow(ImpossibleTransition);
  });
});
