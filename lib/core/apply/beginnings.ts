// How a session and a turn begin in the snapshot, and where a rollback puts it.
import type { At } from "../apply.ts";
import { textOf } from "../content.ts";
import { ImpossibleTransition } from "../errors.ts";
import type { EventOf } from "../event.ts";
import { isPersonal } from "../memory.ts";
import type { SessionState } from "../state.ts";
import { reopened } from "./life-cycle.ts";
import { without } from "./open-turn.ts";
import { carriedProject, projectStarted, rolledBackProject } from "./project.ts";

export function created(event: EventOf<"session.created">, at: At): SessionState {
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

export function turnStarted(state: SessionState, event: EventOf<"turn.started">, at: At): SessionState {
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

/** `target`: the state that stood at the version that is gone back to. */
export function rolledBack(
  state: SessionState,
  event: EventOf<"rolled.back">,
  at: At,
  target?: SessionState,
): SessionState {
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

export function highestSeq(state: SessionState, event: { messages: { seq: number }[] }): number {
  return Math.max(state.marks.inboxSeq, ...event.messages.map((message) => message.seq));
}
