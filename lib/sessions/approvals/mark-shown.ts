// That the page was shown to an approver is a fact for the audit: said once per person, whoever opens the link
// again and again. It changes nothing about the decision.
import type { Approver } from "../../core/approval.ts";
import { appendEvent } from "../../steps/append-event.ts";
import type { Deps } from "../../steps/deps.ts";
import type { StoredApproval } from "../../store/approvals.ts";

/** The journal first, then the event: a crash between leaves it out rather than saying it twice. */
export async function markShown(
  deps: Pick<Deps, "store" | "ids" | "clock">,
  from: StoredApproval,
  approver: Pick<Approver, "email">,
  address?: string,
): Promise<void> {
  const { tenant, sessionId, id } = from.approval;
  const { email } = approver;
  for (let stored: StoredApproval | null = from; stored; ) {
    const { approval }: StoredApproval = stored;
    if (approval.approvers.find((person) => person.email === email)?.shownAt !== undefined) return;
    const now = deps.clock.now();
    const approvers = approval.approvers.map((person) =>
      person.email === email ? { ...person, shownAt: now } : person,
    );
    const saved = await deps.store.approvals.save(stored, { approval: { ...approval, approvers } });
    if (saved !== "refused") {
      await appendEvent(deps, { tenant, sessionId }, () => ({
        type: "approval.shown",
        approvalId: id,
        by: email,
        ...(address === undefined ? {} : { address }),
      }));
      return;
    }
    stored = await deps.store.approvals.get(tenant, id);
  }
}
