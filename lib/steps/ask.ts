// ask: the machine waits here for people. Attaches the task token to the approval that act has put into the log,
// mails whoever was not mailed yet, and ends; the state goes on when the token is released. A resumed execution
// comes here with a new token for the same approval, and mails nobody twice.
import { Fenced, UnreadableRecord } from "../core/errors.ts";
import { turnStatus } from "../core/state.ts";
import type { Head } from "../store/log.ts";
import { deliverMails, queued } from "./ask/deliver-mails.ts";
import { sealed } from "./ask/link-secret.ts";
import { logDecision } from "./ask/log-decision.ts";
import { agentOf, type Deps } from "./deps.ts";
import type { StepInput } from "./io.ts";
import { startRun } from "./run.ts";

/** Answers nothing: what the state ends with is what the token is released with. */
export async function ask(deps: Deps, input: StepInput): Promise<Record<string, never>> {
  const { tenant, taskToken = "" } = input;
  const head = await startRun(deps, input, "ask").owned();
  const call = head.state.turn.calls.find((candidate) => candidate.index === (input.index ?? 0));
  // Delivered again after the decision, or the turn is to end: Act looks at the log.
  if (call?.status !== "asking" || !call.approvalId) return goOn(deps, taskToken);
  const stored = await deps.store.approvals.attach(tenant, call.approvalId, { taskToken, version: head.version });
  if (stored === "stale") throw new Fenced(`another execution waits for approval ${call.approvalId}`);
  if (stored === "missing")
    throw new UnreadableRecord(`approval ${call.approvalId} is in the log and not in the store`);
  if (stored.approval.status === "pending") {
    await deliverMails(deps, stored, {
      change: (approval) =>
        approval.status === "pending" ? queued(deps, sealed(deps.signer, approval), "request") : approval,
    });
    return project(deps, head);
  }
  await logDecision(deps, stored.approval);
  return goOn(deps, taskToken);
}

async function goOn(deps: Deps, taskToken: string): Promise<Record<string, never>> {
  await deps.orchestrator.release(taskToken, {});
  return {};
}

/**
 * A session that only waits for people costs nothing meanwhile: the sweeper looks at the approval when that is due, not
 * at the session. Looks again after writing, so that it never hides a decision that came in between.
 */
async function project(deps: Deps, from: Head): Promise<Record<string, never>> {
  const { log, statuses } = deps.store;
  for (;;) {
    // Before the look: what others write after it is not hidden.
    const seen = await statuses.seen(from.tenant, from.sessionId);
    const head = await log.head(from.tenant, from.sessionId);
    if (!head?.state.turn) return {};
    const now = deps.clock.now();
    const { stuckAfterMs } = agentOf(deps, head.state.agent).session;
    if (turnStatus(head.state) !== "waiting_for_input") {
      await statuses.write(head.state, head.version, now, now + stuckAfterMs);
      return {};
    }
    await statuses.rest(head.state, head.version, now, seen);
    const latest = await log.head(from.tenant, from.sessionId);
    if (latest?.state.turn && turnStatus(latest.state) === "waiting_for_input") return {};
  }
}
