// How a session's life cycle changes with its events: resumed, stopped, suspended, closed, and a turn that a retry
// opens again. Pure, like all of apply.

import type { At } from "../apply.ts";
import type { Event, EventOf, ResumeCause } from "../event.ts";
import { leaseMarginMs, maxToolTimeoutMs, maxWaitSeconds } from "../limits.ts";
import { afterTurn, revived } from "../project.ts";
import type { SessionState, TurnState } from "../state.ts";
import { openTurn, without } from "./open-turn.ts";

/** What neither the session's agent nor its tools brought about. */
const blameless: readonly ResumeCause[] = ["due", "decision", "requested", "crash_elsewhere"];

/** May the session itself be why it stood still? Too many of these in a row end its turn. */
export function countsAsRecovery(cause: ResumeCause): boolean {
  return !blameless.includes(cause);
}

export function resumed(state: SessionState, event: EventOf<"session.resumed">, at: At): SessionState {
  const after = {
    ...without(state, "resumePending"),
    recoveries: state.recoveries + (countsAsRecovery(event.cause) ? 1 : 0),
  };
  if (!after.turn) {
    return { ...after, lifecycle: { kind: "open" }, ...(state.project ? { project: revived(state.project) } : {}) };
  }
  // No lease lasts longer than this from now on: what says so was given before the clock was set back.
  const latest = event.voidLeases ? 0 : at.at + maxToolTimeoutMs + leaseMarginMs;
  const calls = after.turn.calls.map((call) =>
    call.status === "started" ? { ...call, leaseUntil: Math.min(call.leaseUntil ?? 0, latest) } : call,
  );
  return {
    ...after,
    lifecycle: { kind: "open" },
    turn: { ...creditWait(after.turn, at), owner: event.owner, calls, roundsInSegment: 0, historyInSegment: 0 },
  };
}

export function turnEnded(
  state: SessionState,
  event: EventOf<"turn.finished"> | EventOf<"turn.failed">,
  at: At,
): SessionState {
  const turn = openTurn(state);
  const status = event.type === "turn.finished" ? event.status : "error";
  return {
    ...without(state, "resumePending"),
    turn: null,
    recoveries: 0,
    ...(turn.project ? { project: afterTurn(state.project, turn.project, event.endReason) } : {}),
    lastTurn: { turn: turn.turn, status, endReason: event.endReason, version: at.version, finishedAt: at.at },
    lifecycle: lifecycleAfter(state, turn, event, at),
  };
}

function lifecycleAfter(
  state: SessionState,
  turn: TurnState,
  event: EventOf<"turn.finished"> | EventOf<"turn.failed">,
  at: At,
): SessionState["lifecycle"] {
  if (event.type === "turn.failed" && event.closes) return { kind: "closed", ...event.closes, at: at.at, unsaid: true };
  if (!turn.stop?.thenSuspend) return state.lifecycle;
  return { kind: "suspended", cause: turn.stop.reason, at: at.at, ...held(turn.stop) };
}

export function held(stop: { heldSeq?: number }): { heldSeq?: number } {
  return stop.heldSeq === undefined ? {} : { heldSeq: stop.heldSeq };
}

/** What may still be told of a closed session: the closing itself, how its approvals ended, what was learnt from it. */
export function isAfterword(lifecycle: SessionState["lifecycle"] & { kind: "closed" }, event: Event): boolean {
  if (event.type === "session.closed") return lifecycle.unsaid === true || event.reason === "erased";
  return event.type === "notice" || event.type === "memory.updated" || event.type.startsWith("approval.");
}

/** The turn that stood open at the target of a retry, with a new clock and rounds that were never used. */
export function reopened(target: SessionState, reopen: { round: number }, at: At): TurnState {
  const { retry: _retry, repetition: _repetition, cut: _cut, askedAt: _askedAt, ...turn } = openTurn(target);
  return {
    ...turn,
    round: Math.max(turn.round, reopen.round),
    // Nobody owns it: whoever worked on it before is fenced off, and the next execution takes it over.
    owner: "",
    startedAt: at.at,
    waitedMs: 0,
    roundsInSegment: 0,
    historyInSegment: 0,
    continuations: 0,
  };
}

/** A wait that was too long for the machine's Wait state: the turn stood still, so its clock did too. */
function creditWait(turn: TurnState, at: At): TurnState {
  const { retry } = turn;
  if (retry?.since === undefined || retry.at - retry.since <= maxWaitSeconds * 1000) return turn;
  return {
    ...turn,
    retry: { ...retry, since: at.at },
    waitedMs: turn.waitedMs + Math.max(0, at.at - retry.since),
  };
}
