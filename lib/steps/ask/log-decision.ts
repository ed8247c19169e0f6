// Puts a settled approval into its session's log, once. The record decides; the log tells, and carries the call
// on. Whoever comes first (decider, waiting execution, sweeper) writes it, the others find it.
import type { Approval } from "../../core/approval.ts";
import type { Event } from "../../core/event.ts";
import type { Head } from "../../store/log.ts";
import { appendEvent } from "../append-event.ts";
import { agentOf, type Deps } from "../deps.ts";

/** How far back a decision is looked for whose call is no longer open. */
const lookBack = 2000;

/** Answers the head afterwards; null when the session is gone. Repeating it changes nothing. */
export async function logDecision(
  deps: Pick<Deps, "store" | "ids" | "clock" | "agents">,
  approval: Approval,
): Promise<Head | null> {
  const event = decided(approval);
  if (!event) return deps.store.log.head(approval.tenant, approval.sessionId);
  let wrote = false;
  const after = await appendEvent(deps, approval, async (head) => {
    wrote = false;
    const call = head.state.turn?.calls.find((candidate) => candidate.index === approval.index);
    if (head.state.turn?.turn === approval.turn && call?.approvalId === approval.id && call.status !== "finished") {
      wrote = call.status === "asking";
      return wrote ? event : null;
    }
    return (await isOpenInLog(deps, head, approval.id)) ? event : null;
  });
  if (wrote && after?.state.turn) await projectRunning(deps, after);
  return after;
}

/** The session no longer waits for this person: lists say so, and the sweeper looks after it again. */
async function projectRunning(deps: Pick<Deps, "store" | "clock" | "agents">, head: Head): Promise<void> {
  const now = deps.clock.now();
  const { stuckAfterMs } = agentOf(deps, head.state.agent).session;
  await deps.store.statuses.write(head.state, head.version, now, now + stuckAfterMs);
}

function decided(approval: Approval): Event | null {
  if (approval.status === "pending") return null;
  return {
    type: "approval.decided",
    approvalId: approval.id,
    index: approval.index,
    status: approval.status,
    decisions: approval.decisions.map(({ by, decision, at, comment, via, address }) => ({
      by,
      decision,
      at,
      ...(comment === undefined ? {} : { comment }),
      via,
      ...(address === undefined ? {} : { address }),
    })),
    ...(approval.edited ? { inputHash: approval.edited.inputHash } : {}),
    ...(approval.cancelReason === undefined ? {} : { reason: approval.cancelReason }),
  };
}

/** Whether the log has the request without a decision: the turn was over before the decision was written. */
async function isOpenInLog(deps: Pick<Deps, "store">, head: Head, approvalId: string): Promise<boolean> {
  const { log } = deps.store;
  for (let version = head.version; version > Math.max(0, head.version - lookBack); version--) {
    const found = await log.at(head.tenant, head.sessionId, version);
    if (!found || !("approvalId" in found.event) || found.event.approvalId !== approvalId) continue;
    if (found.event.type === "approval.decided") return false;
    if (found.event.type === "approval.requested") return true;
  }
  return false;
}
