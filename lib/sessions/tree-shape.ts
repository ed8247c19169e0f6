// The shapes of a rebuilt session: Session, Turn, Step (contract "Shapes"). Fields may be added, never renamed.
import type { UserContent } from "../core/content.ts";
import type { ErrorRecord } from "../core/errors.ts";
import type { ApprovalKind, Effect, EndReason } from "../core/event.ts";
import type { HandoffRecord } from "../core/handoff.ts";
import type { Json } from "../core/json.ts";
import type { TurnStatus } from "../core/state.ts";
import type { ApprovalView } from "./approvals/approval-view.ts";
import type { ShownUsage } from "./outside-units.ts";
import type { SessionView } from "./session-view.ts";

export type Tree = {
  session: SessionView;
  turns: Turn[];
  /** Accepted messages that have no turn yet, in order. */
  waiting: WaitingMessage[];
  /** The current handoff record, or null. */
  handoff: HandoffRecord | null;
  /** Approvals that wait for people. */
  approvals: PendingApproval[];
  openCalls: OpenCall[];
};

export type SentMessage = { messageId: string; at: string; user: string; via: string };
/** `position`: 1 = next. `steer`: it may join the turn that runs. */
export type WaitingMessage = SentMessage & { receipt: "queued"; position: number; mode?: "steer" };

export type Turn = {
  turn: number;
  status: TurnStatus;
  /** Content of all messages of the turn, in order. */
  input: UserContent[];
  messages: (SentMessage & { receipt: "started" | "completed" | "cancelled" })[];
  /** Of a first turn: why the session before it was closed, as the user was told. */
  notice?: { kind: "session_reset"; reason: string; parent: string };
  answer?: string;
  startedAt: string;
  finishedAt?: string;
  durationMs?: number;
  endReason?: EndReason;
  error?: ErrorRecord;
  usage: ShownUsage;
  /** It is in the log, but a rollback took it out of the context. */
  rolledBack?: true;
  steps: Step[];
};

/**
 * thought: a reply of the model that asks for calls or goes on. action: one call. observation: its outcome, or the result
 * of a step of a flow. final: what the turn ended with.
 */
export type StepKind = "thought" | "action" | "observation" | "final";
export type StepStatus = "pending" | "executing" | "success" | "failed" | "cancelled";

export type Step = {
  /** 1, 2, 3 … in the turn. */
  step: number;
  /** The version that made it; for an action that of its intent, or of the reply that asked when there is none. */
  version: number;
  kind: StepKind;
  status: StepStatus;
  /** The tool, or the step of a flow. */
  name?: string;
  /** Blocks: text and thinking of a reply, the call of an action, the result as the model saw it. */
  content: Json[];
  /** What the tool answered, or the state of a flow after its step. */
  output?: Json;
  error?: ErrorRecord;
  startedAt: string;
  finishedAt?: string;
  durationMs?: number;
  usage?: ShownUsage;
  round?: number;
  model?: string;
  callId?: string;
  effect?: Effect;
  /** Runs of the call so far. */
  attempts?: number;
  approval?: { id: string; kind: ApprovalKind; status: string };
  /** The flow said that this step is not needed. */
  skipped?: true;
  rolledBack?: true;
};

/** As the log tells it; `turn`, `quorum` and what else the record has are added where that can be read. */
export type PendingApproval = Omit<ApprovalView, "turn" | "quorum"> & Partial<Pick<ApprovalView, "turn" | "quorum">>;

export type OpenCall = {
  index: number;
  callId: string;
  tool: string;
  effect: Effect;
  status: "pending" | "asking" | "started";
  attempts: number;
  /** While it runs: until when nobody else may run it. */
  leaseUntil?: string;
  approvalId?: string;
};
