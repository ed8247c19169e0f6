// The step number of every event: one fold over a turn, the same for the tree and for pages of events, so that
// both name a step alike. Pure.
import type { Checkpoint } from "../core/checkpoint.ts";

/** Where the count stands after an event. Immutable: it may be kept and gone on from. */
export type Numbering = {
  /** Turn of the last event; 0 before the first turn. */
  turn: number;
  /** Step of the last event; 0 for events outside of a turn and for the start of one. */
  step: number;
  /** Steps of the turn so far. */
  count: number;
  open: boolean;
  /** Call index -> step of its action, for the calls of the last reply or plan. */
  actions: Readonly<Record<number, number>>;
  /** Approval id -> step of the action that it holds. */
  approvals: Readonly<Record<string, number>>;
  /** Step of the reply that ends the turn; 0 while there is none. */
  final: number;
};

type Numbered = Pick<Checkpoint, "version" | "event" | "state">;

/** Before the first event of a session, or between two turns when `turn` was the last. */
export function outsideTurns(turn = 0): Numbering {
  return { turn, step: 0, count: 0, open: false, actions: {}, approvals: {}, final: 0 };
}

/** The numbering after `checkpoint`; its `turn` and `step` are the event's own. */
export function advance(before: Numbering, checkpoint: Numbered): Numbering {
  const { event } = checkpoint;
  const next = before.count + 1;
  switch (event.type) {
    case "turn.started":
      return { ...outsideTurns(event.turn), open: true };
    case "model.replied": {
      const final = isFinalReply(checkpoint) ? next : 0;
      return { ...before, step: next, final, count: next + event.calls.length, actions: number(event.calls, next + 1) };
    }
    case "flow.planned": {
      const count = before.count + Math.max(1, event.calls.length);
      return { ...before, step: next, count, actions: number(event.calls, next) };
    }
    case "model.failed":
    case "call.finished":
    case "flow.advanced":
    case "step.failed":
      return { ...before, step: next, count: next };
    case "call.started":
      return { ...before, step: before.actions[event.index] ?? before.count };
    case "approval.requested": {
      const step = before.actions[event.index] ?? before.count;
      return { ...before, step, approvals: { ...before.approvals, [event.approvalId]: step } };
    }
    case "approval.mailed":
    case "approval.shown":
    case "approval.decided":
      return { ...before, step: before.approvals[event.approvalId] ?? current(before) };
    case "turn.finished":
    case "turn.failed": {
      const step = before.final || next;
      return { ...before, step, count: Math.max(before.count, step), open: false };
    }
    case "rolled.back": {
      // A retry goes on in the turn that it leads back into.
      const { turn } = checkpoint.state;
      return { ...before, turn: turn?.turn ?? before.turn, step: current(before), open: turn !== null };
    }
    case "session.closed":
      return { ...before, step: current(before), open: false };
    default:
      return { ...before, step: current(before) };
  }
}

/** Whether the reply of this checkpoint is the answer of its turn: the snapshot says so. */
export function isFinalReply({ version, event, state }: Numbered): boolean {
  return event.type === "model.replied" && state.turn?.ending?.answerVersion === version;
}

function current(before: Numbering): number {
  return before.open ? before.count : 0;
}

function number(calls: readonly { index: number }[], first: number): Record<number, number> {
  return Object.fromEntries(calls.map((call, i) => [call.index, first + i]));
}
