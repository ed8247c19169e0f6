// apply(state, event): the only place where a session's snapshot changes. Pure and total: replaying the
// log through it gives every snapshot again (a test does exactly that).
import { created, highestSeq, rolledBack, turnStarted } from "./apply/beginnings.ts";
import { approvalDecided, approvalRequested, callFinished, callState, withCall } from "./apply/calls.ts";
import { held, isAfterword, resumed, turnEnded } from "./apply/life-cycle.ts";
import { without, withTurn } from "./apply/open-turn.ts";
import { handoffUpdated } from "./apply/project.ts";
import { modelFailed, modelReplied, segmentAfterRound } from "./apply/replies.ts";
import { addUsage } from "./apply/usage.ts";
import { ImpossibleTransition } from "./errors.ts";
import type { Event } from "./event.ts";
import { isPersonal } from "./memory.ts";
import type { SessionState } from "./state.ts";

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
      return approvalRequested(state, event, at);
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
    case "memory.updated": {
      const after = addUsage(state, event, at);
      return event.embeddings ? addUsage(after, event.embeddings, at) : after;
    }
    case "memory.recalled":
      return withTurn(addUsage(state, event, at), (turn) => ({ ...turn, recalled: at.version }));
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
      return rolledBack(state, event, at, target);
  }
}
