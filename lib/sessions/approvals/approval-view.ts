// An approval as it is shown outside (contract "Shapes"): times as ISO 8601, no secrets, no network addresses.
import {
  type Approval,
  type ApprovalStatus,
  currentInput,
  type InDoubtVerdict,
  statusAt,
} from "../../core/approval.ts";
import type { ApprovalKind } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import { iso } from "../outside-units.ts";

export type ApprovalView = {
  id: string;
  sessionId: string;
  turn: number;
  tool: string;
  /** What would run now: as an approver changed it, else as the model asked for it. */
  input: Json;
  inputHash: string;
  requestedBy: string;
  approvers: string[];
  quorum: number;
  status: ApprovalStatus;
  requestedAt: string;
  expiresAt: string;
  settledAt?: string;
  decisions: { by: string; decision: string; at: string; comment?: string; via: string; superseded?: true }[];
  kind: ApprovalKind;
  /** Kind `in_doubt`, settled by a person. */
  verdict?: InDoubtVerdict;
  /** Set when an approver changed the arguments; `from` is what the model asked for. */
  edited?: { by: string; at: string; from: Json };
  cancelReason?: string;
};

/** The status is that of `now` (epoch milliseconds), whether or not an expiry was written down yet. */
export function viewApproval(approval: Approval, now: number): ApprovalView {
  const current = currentInput(approval);
  const { edited, settledAt, verdict, cancelReason } = approval;
  return {
    id: approval.id,
    sessionId: approval.sessionId,
    turn: approval.turn,
    tool: approval.tool,
    input: JSON.parse(current.input) as Json,
    inputHash: current.inputHash,
    requestedBy: approval.requestedBy,
    approvers: approval.approvers.map((person) => person.email),
    quorum: approval.quorum,
    status: statusAt(approval, now),
    requestedAt: iso(approval.createdAt),
    expiresAt: iso(approval.expiresAt),
    ...(settledAt === undefined ? {} : { settledAt: iso(settledAt) }),
    decisions: approval.decisions.map(({ by, decision, at, comment, via, superseded }) => ({
      by,
      decision,
      at: iso(at),
      ...(comment === undefined ? {} : { comment }),
      via,
      ...(superseded ? { superseded } : {}),
    })),
    kind: approval.kind,
    ...(verdict === undefined ? {} : { verdict }),
    ...(edited ? { edited: { by: edited.by, at: iso(edited.at), from: JSON.parse(approval.input) as Json } } : {}),
    ...(cancelReason === undefined ? {} : { cancelReason }),
  };
}
