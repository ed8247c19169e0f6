// What can happen to a session. One event makes one checkpoint; the log of them is the session.
// Events are facts: nothing is decided here, and nothing is ever changed after it was appended.
import type { AssistantContent, ResultBlock, StopReason, Usage, UserContent } from "./content.ts";
import type { ErrorRecord } from "./errors.ts";
import type { HandoffRecord } from "./handoff.ts";
import type { Json, JsonObject } from "./json.ts";
import type { MemoryEvent } from "./memory/memory-event.ts";
import type { Origin } from "./origins.ts";
import type { ProjectTurn } from "./project.ts";

/** Why a session was opened, resumed, suspended or closed. */
export type FreshReason = "first" | "idle" | "daily" | "suspended" | "requested" | "fork" | "maxDefer";
export type ResumeCause =
  | "crash"
  /** The process died while the work of another session was under suspicion: not counted against this one. */
  | "crash_elsewhere"
  | "shutdown"
  | "execution_failed"
  | "execution_timed_out"
  | "execution_aborted"
  | "stuck"
  | "requested"
  | "decision"
  | "due";

export type Effect = "read" | "idempotent" | "once";

/** How a turn ended. Everything but `completed` is said to the user as it is. */
export type EndReason =
  | "completed"
  /** Project mode: it answered, and what it was to prove is not proven. */
  | "not_verified"
  | "stopped"
  | "rounds"
  | "turn_minutes"
  | "loop"
  | "budget_exceeded"
  | "truncated"
  | "refusal"
  | "incomplete"
  | "error"
  | "interrupted"
  | "rolled_back"
  | "reset";

/** A message that was accepted for a session and waits for its turn, or has reached it. */
export type InboxMessage = {
  messageId: string;
  seq: number;
  content: UserContent[];
  /** Epoch milliseconds. */
  at: number;
  from: { user: string; via: "chat" | "task" | "api" };
  /** Hash of the idempotency key's record, when the sender gave one. */
  once?: string;
  /** Where the answer goes besides the log (webhook, mail); absent: nowhere. */
  deliverTo?: Json;
  /** It may join the turn that runs; without it the message gets a turn of its own. */
  mode?: "steer";
};

/** One tool call as the model asked for it, with what was decided about it when the reply was stored. */
export type PlannedCall = {
  /** Position in the reply, from 0. */
  index: number;
  /** The provider's call id; the result must carry it. */
  id: string;
  tool: string;
  effect: Effect;
  /** True: a person must decide before it runs. */
  gated: boolean;
  /** Set: never run; the text is the error result for the model. */
  refused?: string;
  /** What stood in the context that led to the call; kept for agents with a `beforeCall` policy. */
  origins?: Origin[];
};

export type CallOutcome =
  | { status: "success"; output: Json; resources?: Json[] }
  | { status: "failed"; error: ErrorRecord }
  | { status: "denied"; error: ErrorRecord }
  | { status: "in_doubt"; error: ErrorRecord }
  | { status: "cancelled"; error: ErrorRecord };

/** An approval's life as the log tells it; the record itself is in the store (A#). */
export type ApprovalKind = "call" | "in_doubt";

type Lineage = { sessionId: string; version: number };

export type Event =
  | {
      type: "session.created";
      tenant: string;
      sessionId: string;
      key: string;
      user: string;
      agent: string;
      reason: FreshReason;
      parent?: Lineage;
      /** True: the context goes on into the parent's log at that version. */
      fork?: boolean;
      handoff?: HandoffRecord;
      /** Of a fork: what has happened in the parent after the version it branches from. */
      sideEffects?: Json[];
    }
  | {
      type: "turn.started";
      turn: number;
      owner: string;
      messages: InboxMessage[] /** True: a fixed flow takes the turn. */;
      flow?: boolean;
      /** Project mode: what the turn is for. */
      project?: ProjectTurn;
    }
  | { type: "turn.continued"; segment: number; owner: string }
  | { type: "turn.steered"; messages: InboxMessage[] }
  | {
      type: "model.replied";
      round: number;
      model: string;
      content: AssistantContent[];
      stop: StopReason;
      rawStop?: string;
      usage: Usage;
      /** Money in millionths of a US dollar; 0 when the model has no price. */
      usdMicros: number;
      calls: PlannedCall[];
      /** The same tool with the same canonical input, how often in a row. */
      repetition?: { hash: string; count: number };
      requestId?: string;
      /** What the validator mended in the request for this reply; originals stay in the log. */
      repairs?: string[];
    }
  | {
      type: "model.failed";
      round: number;
      error: ErrorRecord;
      attempt: number;
      /** Epoch milliseconds of the next try; absent: no further try. */
      retryAt?: number;
      /** What had arrived when the stream was cut; never sent to a model. */
      partial?: string;
    }
  | {
      type: "call.started";
      round: number;
      index: number;
      tool: string;
      input: JsonObject;
      inputHash: string;
      idempotencyKey: string;
      effect: Effect;
      attempt: number;
      /** Epoch milliseconds until which nobody else may run the call. */
      leaseUntil: number;
      approvalId?: string;
    }
  | {
      type: "call.finished";
      round: number;
      index: number;
      callId: string;
      tool: string;
      effect: Effect;
      outcome: CallOutcome;
      /** As sent to the model. */
      result: ResultBlock;
      /** Milliseconds the tool took; absent when it did not run. */
      tookMs?: number;
    }
  | {
      type: "approval.requested";
      round: number;
      index: number;
      approvalId: string;
      kind: ApprovalKind;
      tool: string;
      inputHash: string;
      approvers: string[];
      expiresAt: number;
      /** Why people are asked again, or how the call came into doubt. */
      reason?: string;
    }
  | { type: "approval.mailed"; approvalId: string; to: string; purpose: string; messageId: string }
  | { type: "approval.shown"; approvalId: string; by: string; address?: string }
  | {
      type: "approval.decided";
      approvalId: string;
      index: number;
      status: "approved" | "rejected" | "expired" | "cancelled";
      decisions: { by: string; decision: string; at: number; comment?: string; via: string; address?: string }[];
      /** Hash of the arguments that were decided on; another than the requested one after an edit. */
      inputHash?: string;
      /** Why it was cancelled. */
      reason?: string;
    }
  | {
      type: "flow.planned";
      round: number;
      index: number;
      name: string;
      content: AssistantContent[];
      calls: PlannedCall[];
    }
  | { type: "flow.advanced"; index: number; name: string; state: Json; skipped?: boolean; last?: boolean }
  | {
      type: "step.failed" /** A step of a flow that cannot succeed: the turn ends with it. */;
      name: string;
      error: ErrorRecord;
    }
  | {
      type: "compaction.done";
      from: number;
      to: number;
      summary: Json;
      model: string;
      usage: Usage;
      usdMicros: number;
      cause: string;
    }
  | {
      type: "compaction.refused";
      error: ErrorRecord;
      notBefore: number;
      cause: string;
      /** The summariser, when it answered. */
      model?: string;
      usage: Usage;
      usdMicros: number;
    }
  | { type: "handoff.updated"; record: HandoffRecord }
  | MemoryEvent
  | { type: "session.resumed"; cause: ResumeCause; owner: string; voidLeases: boolean }
  | { type: "session.resume_marked"; cause: ResumeCause }
  | {
      type: "session.suspended";
      cause: string;
      /** Messages up to this number wait for a person; a later one opens a clean session. */
      heldSeq?: number;
    }
  | {
      type: "session.closed";
      reason: FreshReason | "erased";
      /** The session that takes over key and waiting messages. */
      successor?: string;
    }
  | {
      type: "stop.requested";
      reason: string;
      by: string;
      thenSuspend: boolean;
      /** @default "stopped" */
      endReason?: "interrupted";
      heldSeq?: number;
    }
  | { type: "compaction.requested"; by: string }
  | {
      type: "turn.finished";
      turn: number;
      status: "completed" | "error";
      endReason: EndReason;
      answer: string;
      deliver?: Json;
    }
  | {
      type: "turn.failed";
      turn: number;
      endReason: EndReason;
      error: ErrorRecord;
      answer: string;
      deliver?: Json;
      /** A reset ends the turn and the session in one: no message can slip in between. */
      closes?: { reason: FreshReason; successor: string };
    }
  | {
      type: "rolled.back";
      to: number;
      by: string;
      endReason: "rolled_back";
      sideEffects: Json[];
      /** Set by a retry: the turn that stands open at `to` goes on, counting its rounds on from `round`. */
      reopen?: { round: number };
    }
  | { type: "notice"; kind: string; text: string };

export type EventType = Event["type"];
export type EventOf<T extends EventType> = Extract<Event, { type: T }>;
