// The life of a call in the snapshot: planned, asked about, decided, finished.
import type { At } from "../apply.ts";
import { ImpossibleTransition } from "../errors.ts";
import type { EventOf } from "../event.ts";
import type { CallState, SessionState } from "../state.ts";
import { openTurn, without, withTurn } from "./open-turn.ts";

export function callState(call: {
  index: number;
  id: string;
  tool: string;
  effect: CallState["effect"];
  gated: boolean;
  refused?: string;
}): CallState {
  return {
    index: call.index,
    id: call.id,
    tool: call.tool,
    effect: call.effect,
    gated: call.gated,
    // A refused call never runs: its error result stands in the reply's event.
    status: call.refused === undefined ? "pending" : "finished",
    attempts: 0,
  };
}

export function approvalRequested(state: SessionState, event: EventOf<"approval.requested">, at: At): SessionState {
  return withTurn(
    withCall(state, event.index, (call) => ({
      ...without(without(call, "leaseUntil"), "doubt"),
      gated: call.gated || event.kind === "call",
      status: "asking",
      approvalId: event.approvalId,
      approval: "pending",
      ...(event.kind === "in_doubt" ? { doubt: true } : {}),
    })),
    (turn) => ({ ...turn, askedAt: turn.askedAt ?? at.at }),
  );
}

/** The turn may be over, or the call asked about anew: then it is a fact for the record only. */
export function approvalDecided(state: SessionState, event: EventOf<"approval.decided">, at: At): SessionState {
  const open = state.turn?.calls.find((call) => call.index === event.index);
  if (open?.approvalId !== event.approvalId || open.status !== "asking") return state;
  const after = withCall(state, event.index, (call) => ({ ...call, status: "pending", approval: event.status }));
  return withTurn(after, (turn) => {
    if (turn.askedAt === undefined || turn.calls.some((call) => call.status === "asking")) return turn;
    return { ...without(turn, "askedAt"), waitedMs: turn.waitedMs + Math.max(0, at.at - turn.askedAt) };
  });
}

export function callFinished(state: SessionState, event: EventOf<"call.finished">, at: At): SessionState {
  const after = withCall(state, event.index, (call) => finished(call));
  const turn = openTurn(after);
  const done = turn.calls.every((call) => call.status === "finished");
  const happened =
    event.effect !== "read" && (event.outcome.status === "success" || event.outcome.status === "in_doubt");
  return {
    ...after,
    recoveries: 0,
    effects: state.effects + (happened ? 1 : 0),
    marks:
      isJournalled(event) && state.marks.journal !== undefined ? { ...state.marks, journal: at.version } : state.marks,
    turn: done ? { ...turn, phase: "think" } : turn,
  };
}

/** May the outcome stand in a handoff record? Rather once too often: it only says where to look. */
function isJournalled(event: EventOf<"call.finished">): boolean {
  const { outcome } = event;
  return event.effect !== "read" || (outcome.status === "success" && (outcome.resources ?? []).length > 0);
}

function finished(call: CallState): CallState {
  return {
    index: call.index,
    id: call.id,
    tool: call.tool,
    effect: call.effect,
    gated: call.gated,
    status: "finished",
    attempts: call.attempts,
    ...(call.approvalId ? { approvalId: call.approvalId } : {}),
  };
}

export function withCall(state: SessionState, index: number, change: (call: CallState) => CallState): SessionState {
  return withTurn(state, (turn) => {
    const call = turn.calls.find((candidate) => candidate.index === index);
    if (!call) throw new ImpossibleTransition(`the turn has no open call ${index}`);
    if (call.status === "finished") throw new ImpossibleTransition(`call ${index} is finished already`);
    return { ...turn, calls: turn.calls.map((candidate) => (candidate === call ? change(call) : candidate)) };
  });
}
