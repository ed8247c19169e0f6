// What follows a settled approval: the log, the waiting execution, a note to the others. Every part may be
// repeated, so the sweeper finishes what a crash has left.
import { toErrorRecord } from "../../core/errors.ts";
import { deliverMails, queued } from "../../steps/ask/deliver-mails.ts";
import { logDecision } from "../../steps/ask/log-decision.ts";
import type { Deps } from "../../steps/deps.ts";
import { nameExecution } from "../../steps/run.ts";
import { takeOverCause } from "../../steps/take-over.ts";
import type { StoredApproval } from "../../store/approvals.ts";
import { sha256 } from "../../store/encoding.ts";

export type CompleteOptions = {
  /** Called instead of starting an execution: the sweeper looks after the session itself. */
  onOwnerless?: () => Promise<void>;
  /** See `deliverMails`. */
  force?: boolean;
};

export async function completeApproval(
  deps: Deps,
  stored: StoredApproval,
  options: CompleteOptions = {},
): Promise<void> {
  if (stored.approval.status === "pending" || stored.released) return;
  const head = await logDecision(deps, stored.approval);
  if (head) await release(deps, stored, options);
  await deliverMails(deps, stored, {
    change: (approval) => queued(deps, approval, "decided"),
    released: true,
    ...(options.force ? { force: true } : {}),
  });
}

/** The same for somebody who waits for an answer: the decision stands, so nothing that follows may fail it. */
export async function completeOrLeave(deps: Deps, stored: StoredApproval): Promise<void> {
  try {
    await completeApproval(deps, stored);
  } catch (error) {
    const { name, code } = toErrorRecord(error);
    const { tenant, sessionId } = stored.approval;
    deps.log.warn("a decision waits to be carried out by the sweeper", { tenant, sessionId, name, code });
  }
}

/** Releases the call. When nobody waits and the turn has no execution any more, starts one: it finds the decision. */
async function release(deps: Deps, stored: StoredApproval, options: CompleteOptions): Promise<void> {
  const { approval } = stored;
  const { tenant, sessionId } = approval;
  // Read again: an execution that resumed meanwhile has attached another token.
  const now = await deps.store.approvals.get(tenant, approval.id);
  const token = now?.taskToken ?? stored.taskToken;
  if (token && (await deps.orchestrator.release(token, { approvalId: approval.id })) === "released") return;
  const head = await deps.store.log.head(tenant, sessionId);
  const turn = head?.state.turn;
  // An execution that runs comes to the decision by itself.
  if (!turn || turn.turn !== approval.turn || (await deps.orchestrator.isRunning(turn.owner))) return;
  if (options.onOwnerless) return options.onOwnerless();
  // One name for one lost owner: two decisions in the same moment start one execution.
  const salt = `d${sha256(turn.owner).slice(0, 16)}`;
  const name = nameExecution({ tenant, sessionId, turn: turn.turn, segment: turn.segment, salt });
  const cause = takeOverCause("decision", turn.owner);
  await deps.orchestrator.start(name, { tenant, sessionId, turn: turn.turn, segment: turn.segment, cause });
}
