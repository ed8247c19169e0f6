// The approvals of a tenant or of one session, for people who are signed in.
import { type ApprovalStatus, statusAt } from "../../core/approval.ts";
import type { Deps } from "../../steps/deps.ts";
import type { Page } from "../events.ts";
import { type ApprovalView, viewApproval } from "./approval-view.ts";

export type ListApprovals = { status?: ApprovalStatus; limit: number; cursor?: string };

/** Rows looked at for one page; beyond it a page may be short and still have a cursor. */
const maxScanned = 500;

/** Newest first. Throws `InvalidInput` for a cursor that no earlier page gave. */
export async function listApprovals(
  deps: Pick<Deps, "store" | "clock">,
  tenant: string,
  options: ListApprovals,
): Promise<Page<ApprovalView>> {
  const items: ApprovalView[] = [];
  const now = deps.clock.now();
  let cursor = options.cursor;
  for (let scanned = 0; ; ) {
    const page = await deps.store.approvals.recent(tenant, {
      limit: options.limit - items.length,
      ...(cursor ? { cursor } : {}),
    });
    const fitting = page.items.filter(
      ({ approval }) => options.status === undefined || statusAt(approval, now) === options.status,
    );
    items.push(...fitting.map(({ approval }) => viewApproval(approval, now)));
    cursor = page.cursor;
    scanned += page.items.length;
    if (!cursor) return { items };
    if (items.length >= options.limit || scanned >= maxScanned) return { items, cursor };
  }
}

/** Of one session, oldest first; `status` filters. */
export async function listSessionApprovals(
  deps: Pick<Deps, "store" | "clock">,
  tenant: string,
  sessionId: string,
  status?: ApprovalStatus,
): Promise<ApprovalView[]> {
  const now = deps.clock.now();
  const all = await deps.store.approvals.ofSession(tenant, sessionId);
  return all
    .filter(({ approval }) => status === undefined || statusAt(approval, now) === status)
    .sort((a, b) => a.approval.createdAt - b.approval.createdAt || a.approval.id.localeCompare(b.approval.id))
    .map(({ approval }) => viewApproval(approval, now));
}
