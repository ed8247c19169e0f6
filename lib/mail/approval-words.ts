// What is said about an approval, once for mail and page, so that both use the same words.

import { visibleLine } from "../core/approval/describe.ts";
import type { Approval, ApprovalDecision } from "../core/approval.ts";
import { utcTime } from "./utc-time.ts";

/** "Agent aml-investigator, working for rita, asks to run submit_report." */
export function question(approval: Approval): string {
  const who = approval.agent ? `The agent ${visibleLine(approval.agent)}` : "An agent";
  const actor = `${who}, working for ${visibleLine(approval.requestedBy)},`;
  const tool = visibleLine(approval.tool);
  return approval.kind === "call"
    ? `${actor} asks to run ${tool}.`
    : `${actor} ran ${tool} and was interrupted before it knew the outcome. Did it happen?`;
}

/** How a settled approval ended, as the end of "submit_report …". */
export function outcome(approval: Approval): string {
  if (approval.kind === "in_doubt" && approval.verdict) {
    return { happened: "did happen", not_happened: "did not happen", give_up: "was given up" }[approval.verdict];
  }
  return {
    pending: "waits for a decision",
    approved: "was approved",
    rejected: "was rejected",
    expired: "was not decided in time",
    cancelled: "was cancelled",
  }[approval.status];
}

/** "ann@bank.example approved, 2026-05-05 14:30 UTC" without the comment. */
export function decisionLine(decision: ApprovalDecision): string {
  const verb = {
    approve: "approved",
    reject: "rejected",
    happened: "said that it happened",
    not_happened: "said that it did not happen",
    give_up: "gave it up",
  }[decision.decision];
  const before = decision.superseded ? " (before the arguments were changed)" : "";
  return `${visibleLine(decision.by)} ${verb}${before}, ${utcTime(decision.at)}`;
}

/** What it takes and what happens without: for people who are asked. */
export function consequence(approval: Approval): string {
  if (approval.kind === "in_doubt")
    return "One answer is enough. Without one, the agent is told that the outcome is unknown.";
  const needed = approval.quorum === 1 ? "One approval is needed" : `${approval.quorum} approvals are needed`;
  return `${needed}; one rejection ends it. If nobody decides in time, it does not run and the agent is told.`;
}
