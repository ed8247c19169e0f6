// The one way an approval changes: read, let the core decide, write on the condition that nothing else was
// written, and only the winner acts. Everyone else sees what the winner wrote.
import { isCurrentAsking } from "../../core/approval/approval-id.ts";
import { type ApprovalOutcome, cancel } from "../../core/approval/decide.ts";
import type { Approval } from "../../core/approval.ts";
import { NotFound } from "../../core/errors.ts";
import type { Deps } from "../../steps/deps.ts";
import type { StoredApproval } from "../../store/approvals.ts";
import type { Head } from "../../store/log.ts";

export type Settled = { outcome: ApprovalOutcome; stored: StoredApproval };

/** Throws `NotFound` for an id that this tenant does not have. */
export async function readApproval(deps: Pick<Deps, "store">, tenant: string, id: string): Promise<StoredApproval> {
  const stored = await deps.store.approvals.get(tenant, id);
  if (!stored) throw new NotFound("no such approval");
  return stored;
}

/** Applies `change` until it is written or changes nothing. Carries nothing out: see `completeApproval`. */
export async function changeApproval(
  deps: Pick<Deps, "store">,
  tenant: string,
  id: string,
  change: (approval: Approval, head: Head | null) => ApprovalOutcome,
): Promise<Settled> {
  for (;;) {
    const stored = await readApproval(deps, tenant, id);
    const head = await deps.store.log.head(tenant, stored.approval.sessionId);
    const outcome = change(stored.approval, head);
    if (outcome.kind === "already" || outcome.kind === "refused") return { outcome, stored };
    const saved = await deps.store.approvals.save(stored, { approval: outcome.approval });
    if (saved !== "refused") return { outcome, stored: saved };
  }
}

/** Why nobody needs to decide any more, in words for people; null while the call waits for it. */
export function unwantedReason(approval: Approval, head: Head | null): string | null {
  if (!head) return "the session was erased";
  const { lifecycle, turn } = head.state;
  if (lifecycle.kind === "closed") return `the session was closed (${lifecycle.reason})`;
  if (lifecycle.kind === "suspended") return `the session was suspended (${lifecycle.cause})`;
  if (turn?.turn !== approval.turn || turn.round !== approval.round) return "the turn that asked for it is over";
  if (turn.stop) return `the session was stopped (${turn.stop.reason})`;
  const call = turn.calls.find((candidate) => candidate.index === approval.index);
  if (!call || call.status === "finished") return "the call that asked for it is over";
  return isCurrentAsking(approval.id, call.approvalId) ? null : "people were asked anew";
}

/** Cancels it if its session does not want it any more. */
export function cancelIfUnwanted(approval: Approval, head: Head | null, now: number): ApprovalOutcome | null {
  const reason = approval.status === "pending" ? unwantedReason(approval, head) : null;
  return reason === null ? null : cancel(approval, reason, now);
}
