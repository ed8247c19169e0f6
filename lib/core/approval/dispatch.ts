// The last look before an approved call runs (H70): between decision and run the code, the policy or the
// call itself may have changed. Any difference that matters asks again; nothing is assumed.
import { type Approval, currentInput, isRequester, proofs, samePerson } from "../approval.ts";
import type { ApprovalTerms } from "./terms.ts";

export type Dispatch = {
  /** The tool that would run; null when the agent no longer has it. */
  tool: string | null;
  toolVersion: string;
  /** `approvalHash` of exactly what would run (`currentInput(approval).input`, as the tool would get it). */
  inputHash: string;
  /** Today's rule for these arguments; null when the tool no longer asks. */
  rule: ApprovalTerms | null;
  /** Epoch milliseconds. */
  now: number;
};

export type DispatchCheck = "ok" | { askAgain: string };

/** "ok", or why people must be asked again, in words for the log. */
export function checkAtDispatch(approval: Approval, dispatch: Dispatch): DispatchCheck {
  const { rule, now } = dispatch;
  if (approval.kind !== "call") return again("an in-doubt answer is no approval to run");
  if (approval.status !== "approved") return again(`the approval is ${approval.status}`);
  if (dispatch.tool === null) return again(`the tool ${approval.tool} is gone`);
  if (dispatch.tool !== approval.tool) return again(`approved for ${approval.tool}, not for ${dispatch.tool}`);
  if (dispatch.toolVersion !== approval.toolVersion) {
    return again(`approved for version ${approval.toolVersion} of the tool, which is now ${dispatch.toolVersion}`);
  }
  if (dispatch.inputHash !== currentInput(approval).inputHash) return again("the arguments are not those approved");
  if (now >= approval.expiresAt) return again("the approval has expired");
  if (rule === null) return "ok";
  if (now >= approval.createdAt + rule.expiresInMs) return again("the policy lets approvals expire sooner now");
  if (approval.edited && !rule.allowEdit) return again("the policy no longer lets approvers change arguments");
  const counted = stillCounted(approval, rule);
  const needed = Math.max(rule.quorum, approval.quorum);
  return counted >= needed ? "ok" : again(`${counted} of ${needed} approvals satisfy today's policy`);
}

function again(reason: string): DispatchCheck {
  return { askAgain: reason };
}

function stillCounted(approval: Approval, rule: ApprovalTerms): number {
  const allowed = [...rule.approvers, ...rule.escalateTo];
  return approval.decisions.filter(
    (decision) =>
      !decision.superseded &&
      decision.decision === "approve" &&
      decision.inputHash === currentInput(approval).inputHash &&
      allowed.some((person) => samePerson(person, decision.by)) &&
      proofs.indexOf(decision.via) >= proofs.indexOf(rule.confirm) &&
      (rule.allowSelf || !isRequester(approval, decision.by)),
  ).length;
}
