// How an approval moves: people decide, time expires it, a reset or stop cancels it. Each function answers
// the record after and what happened; the caller writes it on the condition that the record it read is
// unchanged, and acts (log, release, mail) only when that write won. Once settled, nothing changes (G10).
import {
  type Approval,
  type ApprovalDecision,
  type Approver,
  currentInput,
  type DecisionValue,
  type InDoubtVerdict,
  isRequester,
  proofs,
  samePerson,
} from "../approval.ts";

export type DecisionRequest = {
  /** Mail address from the link or the signed-in identity. */
  by: string;
  /** User id of the signed-in identity, to recognise the requester. */
  user?: string;
  /** For `in_doubt`, approve means happened and reject means not_happened. */
  decision: DecisionValue;
  via: ApprovalDecision["via"];
  comment?: string;
  address?: string;
  /** Hash of the arguments the person was looking at. */
  shownHash: string;
  /**
   * Changed arguments (canonical JSON, already valid for the tool) and their `approvalHash`. Counts only
   * when the person has seen exactly them: `confirmedHash` is the hash on the page that was confirmed.
   */
  edit?: { input: string; inputHash: string; confirmedHash?: string };
};

export type Refusal =
  | "expired"
  | "not_an_approver"
  | "not_yet_asked"
  | "own_request"
  | "code_needed"
  | "signin_needed"
  /** The arguments were changed by someone else meanwhile: look again. */
  | "changed"
  | "edit_not_allowed"
  /** The changed arguments must be shown and confirmed first. */
  | "confirm_edit"
  | "wrong_decision"
  | "not_due";

export type ApprovalOutcome =
  /** The decision counts; more are needed. Write `approval`. */
  | { kind: "recorded"; approval: Approval; reason: "approved" | "edited" }
  /** This made the outcome. Write `approval`, then release the call. */
  | { kind: "settled"; approval: Approval; reason: "approved" | "rejected" | "expired" | "cancelled" }
  /** Nothing to write: it was settled before, or this person has decided already. */
  | { kind: "already"; approval: Approval; reason: "settled" | "decided" }
  /** Nothing to write, nothing happened. */
  | { kind: "refused"; approval: Approval; reason: Refusal };

/** One person's decision. `now` is epoch milliseconds. */
export function decide(approval: Approval, request: DecisionRequest, now: number): ApprovalOutcome {
  if (approval.status !== "pending") return { kind: "already", approval, reason: "settled" };
  if (now >= approval.expiresAt) return { kind: "refused", approval, reason: "expired" };
  const approver = approval.approvers.find((person) => samePerson(person.email, request.by));
  if (!approver) return { kind: "refused", approval, reason: "not_an_approver" };
  if (approval.decisions.some((decision) => !decision.superseded && decision.by === approver.email)) {
    return { kind: "already", approval, reason: "decided" };
  }
  const edit = request.edit?.inputHash === currentInput(approval).inputHash ? undefined : request.edit;
  const refusal = refusalOf(approval, { ...request, edit }, approver, now);
  if (refusal) return { kind: "refused", approval, reason: refusal };
  const based: Approval = edit
    ? {
        ...approval,
        edited: { input: edit.input, inputHash: edit.inputHash, by: approver.email, at: now },
        decisions: approval.decisions.map((decision) => ({ ...decision, superseded: true as const })),
      }
    : approval;
  const value = recordedValue(approval, request.decision);
  const decided: Approval = {
    ...based,
    decisions: [
      ...based.decisions,
      {
        by: approver.email,
        decision: value,
        at: now,
        ...(request.comment ? { comment: request.comment } : {}),
        via: request.via,
        ...(request.address === undefined ? {} : { address: request.address }),
        inputHash: currentInput(based).inputHash,
      },
    ],
  };
  if (approval.kind === "in_doubt") return settleInDoubt(decided, value as InDoubtVerdict, now);
  if (value === "reject") return settle(decided, "rejected", now);
  const approvals = decided.decisions.filter((decision) => !decision.superseded).length;
  if (approvals >= approval.quorum) return settle(decided, "approved", now);
  return { kind: "recorded", approval: decided, reason: edit ? "edited" : "approved" };
}

/** Time is up: settled as expired once `now` has reached `expiresAt`, refused as `not_due` before. */
export function expire(approval: Approval, now: number): ApprovalOutcome {
  if (approval.status !== "pending") return { kind: "already", approval, reason: "settled" };
  if (now < approval.expiresAt) return { kind: "refused", approval, reason: "not_due" };
  return settle(approval, "expired", now);
}

/** The call is no longer wanted (reset, stop, rollback): `reason` is shown to people. */
export function cancel(approval: Approval, reason: string, now: number): ApprovalOutcome {
  if (approval.status !== "pending") return { kind: "already", approval, reason: "settled" };
  return settle({ ...approval, cancelReason: reason }, "cancelled", now);
}

/** False when too few people may approve for the quorum to be reached, so that asking is pointless. */
export function canReachQuorum(approval: Approval): boolean {
  const able = approval.approvers.filter((person) => mayApprove(approval, person.email));
  return able.length >= approval.quorum;
}

function refusalOf(approval: Approval, request: DecisionRequest, approver: Approver, now: number): Refusal | null {
  if (approver.role === "escalation" && now < (approval.escalateAt ?? 0)) return "not_yet_asked";
  if (proofs.indexOf(request.via) < proofs.indexOf(approval.terms.confirm)) {
    return approval.terms.confirm === "code" ? "code_needed" : "signin_needed";
  }
  if (approval.kind === "call" && request.decision !== "approve" && request.decision !== "reject") {
    return "wrong_decision";
  }
  const ownRequest = !mayApprove(approval, approver.email) || !mayApprove(approval, request.user ?? approver.email);
  if (ownRequest && request.decision === "approve") return "own_request";
  if (request.shownHash !== currentInput(approval).inputHash) return "changed";
  if (!request.edit) return null;
  if (approval.kind === "in_doubt" || !approval.terms.allowEdit) return "edit_not_allowed";
  if (request.decision !== "approve") return "wrong_decision";
  return request.edit.confirmedHash === request.edit.inputHash ? null : "confirm_edit";
}

/** Whoever asked may say what happened to the own call, and may withdraw it, but not approve it. */
function mayApprove(approval: Approval, person: string): boolean {
  return approval.kind === "in_doubt" || approval.terms.allowSelf || !isRequester(approval, person);
}

/** What a button means: about a call in doubt, approve says that it happened and reject that it did not. */
export function recordedValue(approval: Pick<Approval, "kind">, decision: DecisionValue): DecisionValue {
  if (approval.kind === "call") return decision;
  return decision === "approve" ? "happened" : decision === "reject" ? "not_happened" : decision;
}

function settleInDoubt(approval: Approval, verdict: InDoubtVerdict, now: number): ApprovalOutcome {
  return settle({ ...approval, verdict }, verdict === "happened" ? "approved" : "rejected", now);
}

function settle(
  approval: Approval,
  status: "approved" | "rejected" | "expired" | "cancelled",
  now: number,
): ApprovalOutcome {
  return { kind: "settled", approval: { ...approval, status, settledAt: now }, reason: status };
}
