// A stop, reset or rollback takes back what people were asked: visibly, on the page and in the log.
import { cancel } from "../../core/approval/decide.ts";
import type { Deps } from "../../steps/deps.ts";
import { completeOrLeave } from "./complete-approval.ts";
import { changeApproval } from "./settle-approval.ts";

/** Cancels every pending approval of the session and releases its calls; `reason` is shown to people. Repeatable. */
export async function cancelSessionApprovals(
  deps: Deps,
  at: { tenant: string; sessionId: string },
  reason: string,
): Promise<number> {
  let cancelled = 0;
  for (const { approval, released } of await deps.store.approvals.ofSession(at.tenant, at.sessionId)) {
    if (approval.status !== "pending" && released) continue;
    const { outcome, stored } = await changeApproval(deps, at.tenant, approval.id, (current) =>
      cancel(current, reason, deps.clock.now()),
    );
    if (outcome.kind === "settled") cancelled++;
    await completeOrLeave(deps, stored);
  }
  return cancelled;
}
