// Puts a call to people: freezes it in a record, then says so in the log. In this order, so that whatever the
// log waits for can be found; the record of a crash between is found again by its id. Mails are the next step's.
import { approvalId, nextNth } from "../../core/approval/approval-id.ts";
import { cancel, canReachQuorum } from "../../core/approval/decide.ts";
import { type ApprovalTerms, approvalTerms } from "../../core/approval/terms.ts";
import {
  type Approval,
  type ApprovalStatus,
  type FreezeOptions,
  freezeApproval,
  statusAt,
} from "../../core/approval.ts";
import type { Tool } from "../../core/define-tool.ts";
import type { CallState } from "../../core/state.ts";
import { canonical, sha256 } from "../../store/encoding.ts";
import type { Head } from "../../store/log.ts";
import type { OpenState, Run } from "../run.ts";
import type { CallPlan } from "./plan-call.ts";

type OpenHead = Head & { state: OpenState };

/** "impossible": too few people may approve it, so nobody is asked. */
export async function requestApproval(
  run: Run,
  at: { head: OpenHead; call: CallState; tool: Tool },
  plan: CallPlan & { next: "ask" },
): Promise<"asked" | "impossible"> {
  const { head, call, tool } = at;
  const draft = draftOf(run, at, plan);
  if (!canReachQuorum(freezeApproval({ ...draft, id: "" }))) return "impossible";
  const approval = await record(run, draft, call.approvalId);
  await run.commitOwned(({ state: { turn } }) => {
    const current = turn.calls.find((candidate) => candidate.index === call.index);
    const same =
      current?.status === call.status && current.approvalId === call.approvalId && current.attempts === call.attempts;
    if (!same || turn.stop || turn.round !== head.state.turn.round) return null;
    return {
      type: "approval.requested",
      round: turn.round,
      index: call.index,
      approvalId: approval.id,
      kind: approval.kind,
      tool: tool.name,
      inputHash: approval.inputHash,
      approvers: approval.approvers.map((person) => person.email),
      expiresAt: approval.expiresAt,
      ...(plan.reason === undefined ? {} : { reason: plan.reason }),
    };
  }, head);
  return "asked";
}

function draftOf(
  run: Run,
  { head, call, tool }: { head: OpenHead; call: CallState; tool: Tool },
  plan: CallPlan & { next: "ask" },
): Omit<FreezeOptions, "id"> {
  const { tenant, sessionId, user, agent, turn } = head.state;
  return {
    kind: plan.kind,
    call: {
      tenant,
      sessionId,
      turn: turn.turn,
      round: turn.round,
      index: call.index,
      tool: tool.name,
      toolVersion: tool.version,
      input: canonical(plan.input),
    },
    requestedBy: user,
    agent,
    terms: termsOf(plan, user),
    // Filled in where the key is: tools run in this process.
    secretHash: () => "",
    hash: sha256,
    now: run.deps.clock.now(),
  };
}

function termsOf(plan: CallPlan & { next: "ask" }, user: string): ApprovalTerms {
  const terms = approvalTerms(plan.rule ?? { approvers: [user] });
  // Whoever holds the pen for the tool can say what happened; nobody is kept from it by having asked.
  return plan.kind === "in_doubt" ? { ...terms, quorum: 1, allowSelf: true, allowEdit: false } : terms;
}

/** Asked or answered already, though the log does not know it yet. */
const stands = new Set<ApprovalStatus>(["pending", "approved", "rejected"]);

/** The record of this asking: a new one, or the one that a visit before a crash has left. */
async function record(run: Run, draft: Omit<FreezeOptions, "id">, last: string | undefined): Promise<Approval> {
  const { approvals } = run.deps.store;
  const { tenant, sessionId, turn, round, index } = draft.call;
  for (let nth = nextNth(last); ; nth++) {
    const id = approvalId({ tenant, sessionId, turn, round, index, nth });
    const fresh = freezeApproval({ ...draft, id });
    const found = await approvals.create(fresh);
    const { approval } = found;
    const same = approval.kind === fresh.kind && approval.inputHash === fresh.inputHash;
    if (same && stands.has(statusAt(approval, draft.now))) return approval;
    // Left by a visit that the log knows nothing of, and not what is asked now: nobody was mailed about it.
    const ended = cancel(approval, "the call was put to people anew", draft.now);
    if (ended.kind === "settled") await approvals.save(found, { approval: ended.approval, released: true });
  }
}
