// What the sweeper does for one approval: reminds, escalates, expires, sends what was not sent, and carries out
// decisions that a crash has left. Repeating it is harmless.

import { expire } from "../../core/approval/decide.ts";
import { type Due, dueNow, escalated, reminded } from "../../core/approval/due.ts";
import type { Approval } from "../../core/approval.ts";
import { deliverMails, queued } from "../../steps/ask/deliver-mails.ts";
import { sealed } from "../../steps/ask/link-secret.ts";
import type { Deps } from "../../steps/deps.ts";
import { type CompleteOptions, completeApproval } from "./complete-approval.ts";
import { cancelIfUnwanted, changeApproval } from "./settle-approval.ts";

export type SweptApproval = "expired" | "cancelled" | "carried-out" | "mailed" | "looked-at" | "gone";

/** `force`: no other process is alive (boot), so claimed mails are tried at once. */
export async function sweepApproval(
  deps: Deps,
  at: { tenant: string; id: string },
  options: CompleteOptions = {},
): Promise<SweptApproval> {
  if (!(await deps.store.approvals.get(at.tenant, at.id))) return "gone";
  const { outcome, stored } = await changeApproval(deps, at.tenant, at.id, (approval, head) => {
    const now = deps.clock.now();
    return cancelIfUnwanted(approval, head, now) ?? expire(approval, now);
  });
  const { approval } = stored;
  if (approval.status !== "pending") {
    const left = !stored.released;
    if (left) await completeApproval(deps, stored, options);
    else await deliverMails(deps, stored, options);
    if (outcome.kind !== "settled") return left ? "carried-out" : "mailed";
    return approval.status === "expired" ? "expired" : "cancelled";
  }
  // Before the first mail there is nothing to send: the step Ask writes that, when the machine waits.
  if (approval.approvers.every((person) => !person.mailed && person.secretHash === "")) return "looked-at";
  const after = await deliverMails(deps, stored, { ...options, change: (current) => withDueMails(deps, current) });
  return after.rev === stored.rev ? "looked-at" : "mailed";
}

function withDueMails(deps: Deps, approval: Approval): Approval {
  const now = deps.clock.now();
  return dueNow(approval, now).reduce((current: Approval, due: Due) => {
    if (due === "remind") return queued(deps, reminded(current, now), "reminder");
    if (due === "escalate") return queued(deps, sealed(deps.signer, escalated(current, now)), "escalation");
    return current;
  }, approval);
}
