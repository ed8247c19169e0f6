// When a pending approval is to be looked at again, and what is then to be done. Kept apart from the
// deciding functions: the sweeper reads this, people do not.
import type { Approval, Approver } from "../approval.ts";

export type Due = "remind" | "escalate" | "expire";

/** Epoch milliseconds of the next reminder, escalation or expiry; null when it is settled. */
export function dueAt(approval: Approval): number | null {
  const times = openTimes(approval).map((open) => open.at);
  return times.length === 0 ? null : Math.min(...times);
}

/** What is due at `now`, the earliest first. Once expired, nothing else matters. */
export function dueNow(approval: Approval, now: number): Due[] {
  const due = openTimes(approval).filter((open) => open.at <= now);
  if (due.some((open) => open.what === "expire")) return ["expire"];
  return due.sort((a, b) => a.at - b.at).map((open) => open.what);
}

/** The record after reminders have gone out, so that they go out once. */
export function reminded(approval: Approval, now: number): Approval {
  return { ...approval, remindedAt: now };
}

/** The record after the escalation people were asked. */
export function escalated(approval: Approval, now: number): Approval {
  return { ...approval, escalatedAt: now };
}

/** Whom a mail of this purpose goes to: reminders only to those who have not decided, the outcome to everyone who was asked. */
export function recipients(approval: Approval, purpose: "request" | "reminder" | "escalation" | "decided"): Approver[] {
  const decided = new Set(approval.decisions.filter((decision) => !decision.superseded).map((decision) => decision.by));
  const asked = approval.approvers.filter(
    (person) => person.role === "approver" || approval.escalatedAt !== undefined || decided.has(person.email),
  );
  switch (purpose) {
    case "request":
      return approval.approvers.filter((person) => person.role === "approver");
    case "escalation":
      return approval.approvers.filter((person) => person.role === "escalation");
    case "reminder":
      return asked.filter((person) => !decided.has(person.email));
    case "decided":
      return asked.filter((person) => person.email !== settledBy(approval));
  }
}

/** Whoever made the outcome saw it on the page; nobody did when it expired or was cancelled. */
function settledBy(approval: Approval): string | undefined {
  const byPerson = approval.status === "approved" || approval.status === "rejected";
  return byPerson ? approval.decisions.at(-1)?.by : undefined;
}

function openTimes(approval: Approval): { what: Due; at: number }[] {
  if (approval.status !== "pending") return [];
  const times: { what: Due; at: number }[] = [{ what: "expire", at: approval.expiresAt }];
  if (approval.remindAt !== undefined && approval.remindedAt === undefined) {
    times.push({ what: "remind", at: approval.remindAt });
  }
  if (approval.escalateAt !== undefined && approval.escalatedAt === undefined) {
    times.push({ what: "escalate", at: approval.escalateAt });
  }
  return times;
}
