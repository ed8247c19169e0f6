// apply(state, event): the only place where a session's snapshot changes. Pure and total: replaying the
// log through it gives every snapshot again (a test does exactly that).
import { held, isAfterword, reopened, resumed, turnEnded } from "./apply/life-cycle.ts";
import { openTurn, without, withTurn } from "./apply/open-turn.ts";
import { carriedProject, handoffUpdated, projectStarted, rolledBackProject } from "./apply/project.ts";
import { textOf, type Usage } from "./content.ts";
import { addToDay } from "./day-usage.ts";
import { BudgetExceeded, ImpossibleTransition } from "./errors.ts";
import type { Event, EventOf } from "./event.ts";
import { isPersonal } from "./memory.ts";
import type { CallState, SessionState, TurnState } from "./state.ts";

/** Where the event will stand: its version, and the time of writing in epoch milliseconds. */
export type At = { version: number; at: number };

/**
 * The state after `event`. `state` is null only for the first event, `session.created`. Throws
 * `ImpossibleTransition` for an event that does not fit the state: the caller then has a stale view.
 * `rolled.back` needs the state that stood at its target, given as `target`.
 */
export function apply(state: SessionState | null, event: Event, at: At, target?: SessionState): SessionState {
  if (event.type === "session.created") {
    if (state) throw new ImpossibleTransition("the session exists already");
    return created(event, at);
  }
  if (!state) throw new ImpossibleTransition(`${event.type} before session.created`);
  if (state.lifecycle.kind === "closed" && !isAfterword(state.lifecycle, event)) {
    throw new ImpossibleTransition(`${event.type}: the session is closed`);
  }
  switch (event.type) {
    case "turn.started":
      return turnStarted(state, event, at);
    case "turn.continued":
      return withTurn(state, (turn) => ({
        ...turn,
        owner: event.owner,
        segment: event.segment,
        roundsInSegment: 0,
        historyInSegment: 0,
      }));
    case "turn.steered":
      return {
        ...withTurn(state, (turn) => (isPersonal(state, event.messages) ? turn : { ...turn, impersonal: true })),
        lastUserAt: Math.max(state.lastUserAt, ...event.messages.map((m) => m.at)),
        marks: { ...state.marks, inbox: at.version, inboxSeq: highestSeq(state, event) },
      };
    case "model.replied":
      return modelReplied(state, event, at);
    case "model.failed":
      return modelFailed(state, event, at);
    case "call.started":
      return withCall(state, event.index, (call) => ({
        ...call,
        status: "started",
        leaseUntil: event.leaseUntil,
        attempts: event.attempt,
      }));
    case "call.finished":
      return callFinished(state, event, at);
    case "approval.requested":
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
    case "approval.decided":
      return approvalDecided(state, event, at);
    case "approval.mailed":
    case "approval.shown":
    case "notice":
      return state;
    case "flow.planned":
      return withTurn(state, (turn) => ({
        ...turn,
        phase: "act",
        round: event.round,
        ...segmentAfterRound(turn, event.calls.length),
        replyVersion: at.version,
        calls: event.calls.map(callState),
      }));
    case "flow.advanced":
      return withTurn(state, (turn) => ({
        ...turn,
        phase: event.last ? "finish" : "think",
        calls: [],
        continuations: 0,
        flow: { index: event.index + 1, stateVersion: at.version },
        ...(event.last ? { ending: { reason: "completed", answerVersion: at.version } } : {}),
      }));
    case "step.failed":
      return withTurn(state, (turn) => ({
        ...turn,
        phase: "finish",
        ending: { reason: "error", answerVersion: at.version },
      }));
    case "compaction.done":
      return {
        ...addUsage(state, event, at),
        context: { tokens: 0, version: at.version },
        marks: { ...without(without(state.marks, "compactNotBefore"), "compactRequested"), summary: at.version },
      };
    case "compaction.refused":
      return {
        ...addUsage(state, event, at),
        marks: { ...without(state.marks, "compactRequested"), compactNotBefore: event.notBefore },
      };
    case "memory.updated":
      return addUsage(state, event, at);
    case "compaction.requested":
      return { ...state, marks: { ...state.marks, compactRequested: at.version } };
    case "handoff.updated":
      return handoffUpdated(state, event, at);
    case "session.resume_marked":
      return { ...state, resumePending: { cause: event.cause, at: at.at } };
    case "session.resumed":
      return resumed(state, event, at);
    case "session.suspended":
      return {
        ...without(state, "resumePending"),
        lifecycle: { kind: "suspended", cause: event.cause, at: at.at, ...held(event) },
      };
    case "session.closed":
      return {
        ...without(state, "resumePending"),
        lifecycle: {
          kind: "closed",
          reason: event.reason,
          at: at.at,
          ...(event.successor === undefined ? {} : { successor: event.successor }),
        },
      };
    case "stop.requested":
      return withTurn(state, (turn) => ({
        ...turn,
        stop: {
          reason: event.reason,
          thenSuspend: event.thenSuspend,
          ...(event.endReason ? { endReason: event.endReason } : {}),
          ...held(event),
        },
      }));
    case "turn.finished":
    case "turn.failed":
      return turnEnded(state, event, at);
    case "rolled.back":
      if (!target) throw new ImpossibleTransition("rolled.back needs the state of its target version");
      return {
        ...without(target, "resumePending"),
        turn: event.reopen ? reopened(target, event.reopen, at) : null,
        turns: state.turns,
        lifecycle: { kind: "open" },
        ...rolledBackProject(target, event),
        lastUserAt: state.lastUserAt,
        usage: state.usage,
        ...(state.days ? { days: state.days } : {}),
        context: { tokens: 0, version: at.version },
        marks: {
          ...without(target.marks, "compactRequested"),
          rolledBack: at.version,
          inboxSeq: state.marks.inboxSeq,
          ...(state.marks.inbox ? { inbox: state.marks.inbox } : {}),
        },
        recoveries: 0,
      };
  }
}

function created(event: EventOf<"session.created">, at: At): SessionState {
  return {
    tenant: event.tenant,
    sessionId: event.sessionId,
    key: event.key,
    user: event.user,
    agent: event.agent,
    createdAt: at.at,
    ...(event.parent ? { parent: event.parent } : {}),
    ...(event.fork ? { fork: true } : {}),
    lifecycle: { kind: "open" },
    turn: null,
    turns: 0,
    ...carriedProject(event),
    title: "",
    lastUserAt: at.at,
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, usdMicros: 0 },
    context: { tokens: 0, version: 0 },
    marks: { inboxSeq: 0, ...(event.fork ? {} : { journal: 0 }), ...(event.handoff ? { handoff: at.version } : {}) },
    recoveries: 0,
    effects: 0,
  };
}

function turnStarted(state: SessionState, event: EventOf<"turn.started">, at: At): SessionState {
  if (state.turn) throw new ImpossibleTransition(`turn ${state.turn.turn} is still open`);
  if (state.lifecycle.kind !== "open") throw new ImpossibleTransition(`the session is ${state.lifecycle.kind}`);
  if (event.turn !== state.turns + 1) throw new ImpossibleTransition(`turn ${event.turn} cannot follow ${state.turns}`);
  // The runtime's own message is no activity of the user, and was never in the inbox.
  const messages = event.project?.auto ? [] : event.messages;
  const text = messages.map((message) => textOf(message.content)).join(" ");
  return {
    ...without(state, "resumePending"),
    title: state.title || Array.from(text.replace(/\s+/g, " ").trim()).slice(0, 80).join(""),
    lastUserAt: Math.max(state.lastUserAt, ...messages.map((message) => message.at)),
    ...projectStarted(state, event, at),
    turns: event.turn,
    turn: {
      turn: event.turn,
      startedVersion: at.version,
      startedAt: at.at,
      owner: event.owner,
      segment: 0,
      roundsInSegment: 0,
      historyInSegment: 0,
      round: 0,
      phase: "think",
      replyVersion: 0,
      calls: [],
      continuations: 0,
      waitedMs: 0,
      ...(event.flow ? { flow: { index: 0, stateVersion: 0 } } : {}),
      ...(isPersonal(state, event.messages) ? {} : { impersonal: true }),
      ...(event.messages.some((message) => message.deliverTo) ? { deliver: true } : {}),
      ...(event.project ? { project: event.project } : {}),
    },
    // What was counted for earlier days has been reported; the last one again, in case that failed.
    ...(state.days ? { days: state.days.slice(-1) } : {}),
    marks:
      messages.length > 0 ? { ...state.marks, inbox: at.version, inboxSeq: highestSeq(state, event) } : state.marks,
    recoveries: 0,
    effects: 0,
  };
}

function highestSeq(state: SessionState, event: { messages: { seq: number }[] }): number {
  return Math.max(state.marks.inboxSeq, ...event.messages.map((message) => message.seq));
}

function modelReplied(state: SessionState, event: EventOf<"model.replied">, at: At): SessionState {
  const turn = openTurn(state);
  const total = event.usage.inputTokens + event.usage.cacheReadTokens + event.usage.cacheWriteTokens;
  const cut = event.stop === "max_tokens" || event.stop === "pause_turn" ? event.stop : null;
  const calls = event.calls.map(callState);
  const next: TurnState = {
    ...without(without(without(turn, "retry"), "repetition"), "cut"),
    round: event.round,
    ...segmentAfterRound(turn, event.calls.length),
    replyVersion: at.version,
    calls,
    continuations: cut ? (turn.cut === event.stop ? turn.continuations : 0) + 1 : 0,
    phase: calls.some((call) => call.status !== "finished") ? "act" : "think",
    ...(event.repetition ? { repetition: event.repetition } : {}),
    ...(cut ? { cut } : {}),
  };
  const complete = event.stop === "end_turn" || event.stop === "stop_sequence";
  // A reply that was refused, or ended in a way that nobody knows, asks for nothing: its calls never run.
  const asks = calls.length > 0 && event.stop !== "refusal" && event.stop !== "other";
  const goesOn = cut !== null || asks || (turn.flow !== undefined && complete);
  return {
    ...addUsage(state, event, at),
    context: total > 0 ? { tokens: total + event.usage.outputTokens, version: at.version } : state.context,
    recoveries: 0,
    turn: goesOn ? next : { ...next, phase: "finish", ending: ending(event, at) },
  };
}

/** One round more in this execution, and what its history grew by: 11 events and 7 a call (docs/decisions/0005). */
function segmentAfterRound(turn: TurnState, calls: number): Pick<TurnState, "roundsInSegment" | "historyInSegment"> {
  return {
    roundsInSegment: turn.roundsInSegment + 1,
    historyInSegment: turn.historyInSegment + 11 + 7 * calls,
  };
}

function ending(event: EventOf<"model.replied">, at: At): NonNullable<TurnState["ending"]> {
  const reason =
    event.stop === "end_turn" || event.stop === "stop_sequence"
      ? "completed"
      : event.stop === "refusal"
        ? "refusal"
        : "incomplete";
  return { reason, answerVersion: at.version };
}

function callState(call: {
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

function modelFailed(state: SessionState, event: EventOf<"model.failed">, at: At): SessionState {
  const reason = event.error.name === BudgetExceeded.kind.name ? "budget_exceeded" : "error";
  return withTurn(state, (turn) =>
    event.retryAt === undefined
      ? { ...without(turn, "retry"), phase: "finish", ending: { reason, answerVersion: at.version } }
      : {
          ...turn,
          retry: { at: event.retryAt, attempt: event.attempt, errorName: event.error.name, since: at.at },
        },
  );
}

/** The turn may be over, or the call asked about anew: then it is a fact for the record only. */
function approvalDecided(state: SessionState, event: EventOf<"approval.decided">, at: At): SessionState {
  const open = state.turn?.calls.find((call) => call.index === event.index);
  if (open?.approvalId !== event.approvalId || open.status !== "asking") return state;
  const after = withCall(state, event.index, (call) => ({ ...call, status: "pending", approval: event.status }));
  return withTurn(after, (turn) => {
    if (turn.askedAt === undefined || turn.calls.some((call) => call.status === "asking")) return turn;
    return { ...without(turn, "askedAt"), waitedMs: turn.waitedMs + Math.max(0, at.at - turn.askedAt) };
  });
}

function callFinished(state: SessionState, event: EventOf<"call.finished">, at: At): SessionState {
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

function withCall(state: SessionState, index: number, change: (call: CallState) => CallState): SessionState {
  return withTurn(state, (turn) => {
    const call = turn.calls.find((candidate) => candidate.index === index);
    if (!call) throw new ImpossibleTransition(`the turn has no open call ${index}`);
    if (call.status === "finished") throw new ImpossibleTransition(`call ${index} is finished already`);
    return { ...turn, calls: turn.calls.map((candidate) => (candidate === call ? change(call) : candidate)) };
  });
}

function addUsage(
  state: SessionState,
  event: { usage: Usage; usdMicros: number; model?: string },
  at: At,
): SessionState {
  const { usage } = state;
  const days = addToDay(state.days ?? [], { ...event, model: event.model ?? "unknown", at: at.at });
  return {
    ...state,
    ...(days.length > 0 ? { days } : {}),
    usage: {
      inputTokens: usage.inputTokens + event.usage.inputTokens,
      outputTokens: usage.outputTokens + event.usage.outputTokens,
      cacheReadTokens: usage.cacheReadTokens + event.usage.cacheReadTokens,
      cacheWriteTokens: usage.cacheWriteTokens + event.usage.cacheWriteTokens,
      usdMicros: usage.usdMicros + event.usdMicros,
    },
  };
}
