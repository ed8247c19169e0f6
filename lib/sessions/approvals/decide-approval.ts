// A person decides: by the mailed link or signed in, on one path. First the decision is written, then the call
// is released; whoever comes second sees what was decided.
import { type ApprovalOutcome, type DecisionRequest, decide, expire } from "../../core/approval/decide.ts";
import type { Deps } from "../../steps/deps.ts";
import { completeOrLeave } from "./complete-approval.ts";
import { cancelIfUnwanted, changeApproval } from "./settle-approval.ts";

/**
 * Applies one decision. An approval whose session was stopped or whose time is over is settled as that instead, and the
 * outcome says so (`already`, or `refused` for expired). Throws `NotFound`.
 */
export async function decideApproval(
  deps: Deps,
  at: { tenant: string; id: string },
  request: DecisionRequest,
): Promise<ApprovalOutcome> {
  let ended = false;
  const { outcome, stored } = await changeApproval(deps, at.tenant, at.id, (approval, head) => {
    const now = deps.clock.now();
    const over = cancelIfUnwanted(approval, head, now) ?? (now >= approval.expiresAt ? expire(approval, now) : null);
    ended = over?.kind === "settled";
    return ended && over ? over : decide(approval, request, now);
  });
  await completeOrLeave(deps, stored);
  const { approval } = stored;
  if (!ended) return { ...outcome, approval };
  return approval.status === "expired"
    ? { kind: "refused", approval, reason: "expired" }
    : { kind: "already", approval, reason: "settled" };
}
