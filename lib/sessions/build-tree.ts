// A session rebuilt from its events alone: turns and their steps, with the version that made each. Pure; what is
// shown for the open turn comes from the snapshot of the last event.
import type { Checkpoint } from "../core/checkpoint.ts";
import type { EventOf } from "../core/event.ts";
import type { HandoffRecord } from "../core/handoff.ts";
import { turnStatus } from "../core/state.ts";
import { advance, outsideTurns } from "./numbering.ts";
import { iso } from "./outside-units.ts";
import { viewSession } from "./session-view.ts";
import type { OpenCall, PendingApproval, Tree, Turn } from "./tree-shape.ts";
import { createTurnBuilder, type TurnBuilder } from "./turn-builder.ts";

/** The tree of all versions of one session in order. Throws RangeError for none: a session has at least its first. */
export function buildTree(checkpoints: Iterable<Checkpoint>): Tree {
  const builder = createTreeBuilder();
  for (const checkpoint of checkpoints) builder.add(checkpoint);
  return builder.build();
}

/** The same, version by version, so that a long log need not be held at once. */
export type TreeBuilder = { add(checkpoint: Checkpoint): void; build(): Tree };

export function createTreeBuilder(): TreeBuilder {
  const turns: TurnBuilder[] = [];
  const handoffs = new Map<number, HandoffRecord>();
  const asked = new Map<string, PendingApproval>();
  let numbering = outsideTurns();
  let notice: Turn["notice"];
  let last: Checkpoint | undefined;
  return {
    add(checkpoint) {
      const { event, version, at } = checkpoint;
      numbering = advance(numbering, checkpoint);
      if (event.type === "session.created" && event.parent && !event.fork) {
        notice = { kind: "session_reset", reason: event.reason, parent: event.parent.sessionId };
      }
      if (event.type === "turn.started")
        turns.push(createTurnBuilder(event.turn, at, event.turn === 1 ? notice : undefined));
      const turn = turns.at(-1);
      if (event.type === "handoff.updated") handoffs.set(version, event.record);
      if (event.type === "session.created" && event.handoff) handoffs.set(version, event.handoff);
      if (event.type === "approval.requested" && turn) {
        asked.set(event.approvalId, pendingApproval(checkpoint, event, turn));
      }
      if (event.type === "approval.decided") asked.delete(event.approvalId);
      if (event.type === "rolled.back") rollBack(turns, checkpoint, event.to);
      else if (event.type === "session.closed") turn?.close("reset", at);
      else turn?.add(checkpoint, numbering, last?.at ?? at);
      last = checkpoint;
    },
    build() {
      if (!last) throw new RangeError("a session without versions has no tree");
      const { state } = last;
      const open = state.turn ? turnStatus(state) : undefined;
      return {
        session: viewSession(last),
        turns: turns.map((turn) => turn.build(turn.number === state.turn?.turn ? open : undefined)),
        waiting: [],
        handoff: (state.marks.handoff && handoffs.get(state.marks.handoff)) || null,
        approvals: openApprovals(last, asked),
        openCalls: openCalls(last),
      };
    },
  };
}

function rollBack(turns: readonly TurnBuilder[], { state, at }: Checkpoint, to: number): void {
  for (const turn of turns) turn.rollBack(to, at, turn.number === state.turn?.turn);
}

function pendingApproval(
  { state, at }: Checkpoint,
  event: EventOf<"approval.requested">,
  turn: TurnBuilder,
): PendingApproval {
  return {
    id: event.approvalId,
    sessionId: state.sessionId,
    tool: event.tool,
    input: turn.inputOfCall(event.index),
    inputHash: event.inputHash,
    requestedBy: state.user,
    approvers: event.approvers,
    status: "pending",
    requestedAt: iso(at),
    expiresAt: iso(event.expiresAt),
    decisions: [],
    kind: event.kind,
  };
}

/** Only what the snapshot still waits for: a turn that was stopped leaves none. */
function openApprovals({ state }: Checkpoint, asked: ReadonlyMap<string, PendingApproval>): PendingApproval[] {
  return (state.turn?.calls ?? []).flatMap((call) => {
    const approval = call.status === "asking" && call.approvalId ? asked.get(call.approvalId) : undefined;
    return approval ? [approval] : [];
  });
}

function openCalls({ state }: Checkpoint): OpenCall[] {
  return (state.turn?.calls ?? []).flatMap((call) =>
    call.status === "finished"
      ? []
      : [
          {
            index: call.index,
            callId: call.id,
            tool: call.tool,
            effect: call.effect,
            status: call.status,
            attempts: call.attempts,
            ...(call.leaseUntil ? { leaseUntil: iso(call.leaseUntil) } : {}),
            ...(call.approvalId ? { approvalId: call.approvalId } : {}),
          },
        ],
  );
}
