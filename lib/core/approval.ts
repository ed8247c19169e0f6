// An approval: a frozen call that waits for people. This file says what the record is and how one begins;
// approval/decide.ts moves it, approval/dispatch.ts checks it once more when the call runs, approval/due.ts
// says when it is to be looked at. Hashing and secrets come from outside, since the core has no chance.
import type { ApprovalTerms } from "./approval/terms.ts";
import type { ApprovalKind } from "./event.ts";

export type ApprovalStatus = "pending" | "approved" | "rejected" | "expired" | "cancelled";

/** approve and reject are for calls; the other three answer "did it happen?" (kind `in_doubt`). */
export type DecisionValue = "approve" | "reject" | "happened" | "not_happened" | "give_up";
export type InDoubtVerdict = "happened" | "not_happened" | "give_up";

/** How the person was recognised, weakest first: the mailed link, link and mailed code, a signed-in identity. */
export const proofs = ["link", "code", "signin"] as const;
export type Proof = (typeof proofs)[number];

/** request, reminder, escalation and decided are mailed once each; codes are short-lived and not journalled. */
export type MailPurpose = "request" | "reminder" | "escalation" | "decided" | "code";

/** Journal of one mail: with the record it is all that its bytes depend on, so a repeat is the same mail. */
export type MailMark = {
  messageId: string;
  /** Epoch milliseconds of the Date header, frozen before the first attempt. */
  date: number;
  status: "sending" | "sent" | "refused";
  /** Code of the refusal. */
  error?: string;
  /** Epoch milliseconds of the latest try, written before it; whoever wrote it is the one who tries. */
  triedAt?: number;
  tries?: number;
};

export type Approver = {
  email: string;
  /** Hash of this person's link secret; the secret itself is only in the mail. Empty until the mails are made. */
  secretHash: string;
  role: "approver" | "escalation";
  mailed?: Partial<Record<Exclude<MailPurpose, "code">, MailMark>>;
  /** Epoch milliseconds at which the page was first shown to this person. */
  shownAt?: number;
};

export type ApprovalDecision = {
  /** Mail address of an approver, as it stands in the record. */
  by: string;
  decision: DecisionValue;
  /** Epoch milliseconds. */
  at: number;
  comment?: string;
  via: Proof;
  /** Network address it came from. */
  address?: string;
  /** Hash of the arguments that were decided on. */
  inputHash: string;
  /** True: the arguments were changed afterwards, so it no longer counts. */
  superseded?: true;
};

/** What a call is: frozen when people are asked. `input` is canonical JSON text (RFC 8785) of an object. */
export type FrozenCall = {
  tenant: string;
  sessionId: string;
  turn: number;
  round: number;
  index: number;
  tool: string;
  toolVersion: string;
  input: string;
};

export type Approval = FrozenCall & {
  format: 1;
  id: string;
  kind: ApprovalKind;
  /** `approvalHash` of the call as the model asked for it. */
  inputHash: string;
  /** User on whose behalf the agent works; `requesterEmail` when it is known and another word. */
  requestedBy: string;
  requesterEmail?: string;
  /** Name of the agent, for people. */
  agent?: string;
  terms: ApprovalTerms;
  approvers: Approver[];
  /** Approvals needed; a single rejection is a veto. Always 1 for `in_doubt`. */
  quorum: number;
  /** Epoch milliseconds, all of them. */
  createdAt: number;
  expiresAt: number;
  remindAt?: number;
  remindedAt?: number;
  escalateAt?: number;
  escalatedAt?: number;
  settledAt?: number;
  status: ApprovalStatus;
  /** Only for a settled `in_doubt`; `status` is then approved for happened, else rejected. */
  verdict?: InDoubtVerdict;
  /** Why it was cancelled, for people. */
  cancelReason?: string;
  decisions: ApprovalDecision[];
  /** Arguments as an approver changed them: what is decided on and what runs. */
  edited?: { input: string; inputHash: string; by: string; at: number };
  /** Releases the waiting execution. Secret; replaced when a resumed execution asks again. */
  taskToken?: string;
};

export type FreezeOptions = {
  id: string;
  kind: ApprovalKind;
  call: FrozenCall;
  requestedBy: string;
  requesterEmail?: string;
  agent?: string;
  terms: ApprovalTerms;
  /** Hash of the link secret made for this address. */
  secretHash: (email: string) => string;
  /** SHA-256 in hex. */
  hash: (text: string) => string;
  /** Epoch milliseconds. */
  now: number;
  taskToken?: string;
};

/** The record as it is first written: pending, nobody mailed yet. */
export function freezeApproval(options: FreezeOptions): Approval {
  const { call, terms, now } = options;
  const approver = (email: string, role: Approver["role"]): Approver => ({
    email,
    secretHash: options.secretHash(email),
    role,
  });
  return {
    format: 1,
    id: options.id,
    kind: options.kind,
    tenant: call.tenant,
    sessionId: call.sessionId,
    turn: call.turn,
    round: call.round,
    index: call.index,
    tool: call.tool,
    toolVersion: call.toolVersion,
    input: call.input,
    inputHash: approvalHash(call, options.hash),
    requestedBy: options.requestedBy,
    ...(options.requesterEmail === undefined ? {} : { requesterEmail: options.requesterEmail }),
    ...(options.agent === undefined ? {} : { agent: options.agent }),
    terms,
    approvers: [
      ...terms.approvers.map((email) => approver(email, "approver")),
      ...terms.escalateTo.map((email) => approver(email, "escalation")),
    ],
    quorum: options.kind === "in_doubt" ? 1 : terms.quorum,
    createdAt: now,
    expiresAt: now + terms.expiresInMs,
    ...(terms.remindAfterMs === undefined ? {} : { remindAt: now + terms.remindAfterMs }),
    ...(terms.escalateAfterMs === undefined ? {} : { escalateAt: now + terms.escalateAfterMs }),
    status: "pending",
    decisions: [],
    ...(options.taskToken === undefined ? {} : { taskToken: options.taskToken }),
  };
}

/** Hash over all that makes a call this call (G9). A list of strings has one JSON form, so nothing can be shifted between parts. */
export function approvalHash(
  call: Pick<FrozenCall, "tenant" | "sessionId" | "tool" | "toolVersion" | "input">,
  hash: (text: string) => string,
): string {
  return hash(JSON.stringify([call.tenant, call.sessionId, call.tool, call.toolVersion, call.input]));
}

/** What is decided on now and runs after an approval: the changed arguments, else those the model sent. */
export function currentInput(approval: Approval): { input: string; inputHash: string } {
  return approval.edited ?? approval;
}

/** The status as of `now`: a pending approval past its expiry is expired, whether or not someone wrote that down. */
export function statusAt(approval: Approval, now: number): ApprovalStatus {
  return approval.status === "pending" && now >= approval.expiresAt ? "expired" : approval.status;
}

/** Mail addresses and user ids name the same person whatever their case. */
export function samePerson(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/** Whether this person asked for the call. */
export function isRequester(approval: Approval, person: string): boolean {
  return (
    samePerson(person, approval.requestedBy) ||
    (approval.requesterEmail !== undefined && samePerson(person, approval.requesterEmail))
  );
}
