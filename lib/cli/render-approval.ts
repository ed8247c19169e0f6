// One approval in a few lines: what, for whom, who may decide, and what was decided.
import type { ApprovalView } from "../sessions/approvals/approval-view.ts";
import { type Output, oneLine } from "./output.ts";

const maxInput = 300;

export function approvalLines(approval: ApprovalView, paint: Output["paint"]): string[] {
  const { status } = approval;
  const colour = status === "pending" ? paint.yellow : status === "approved" ? paint.green : paint.red;
  const what = approval.kind === "in_doubt" ? `did ${approval.tool} happen?` : approval.tool;
  const until = status === "pending" ? `until ${approval.expiresAt}` : (approval.settledAt ?? approval.expiresAt);
  return [
    `${colour(status.padEnd(9))}  ${paint.bold(oneLine(what))}  ${paint.dim(until)}`,
    `  id         ${oneLine(approval.id)}`,
    `  for        ${oneLine(approval.requestedBy)}, session ${oneLine(approval.sessionId)}`,
    `  approvers  ${oneLine(approval.approvers.join(", "))}${approval.quorum > 1 ? ` (${approval.quorum} needed)` : ""}`,
    `  arguments  ${oneLine(JSON.stringify(approval.input), maxInput)}${approval.edited ? ` (changed by ${oneLine(approval.edited.by)})` : ""}`,
    ...approval.decisions.map(
      ({ by, decision, comment }) =>
        `  ${decision.padEnd(9)}  ${oneLine(by)}${comment ? `: ${oneLine(comment, maxInput)}` : ""}`,
    ),
    ...(approval.cancelReason ? [`  cancelled  ${oneLine(approval.cancelReason)}`] : []),
  ];
}
