// resolveSession: the only place that decides whether a message goes on in a session, resumes it, or opens a new
// one. The rows are those of the life-cycle table; every path (chat, batch, recovery, sweeper) asks here.
import type { SessionRules } from "./define-agent.ts";
import type { FreshReason, ResumeCause } from "./event.ts";
import { localDay } from "./local-day.ts";
import type { SessionState, TurnState } from "./state.ts";

export type Resolution =
  /** `queued`: a turn is at work, and the busy policy decides what the message does. */
  | { kind: "continue"; queued?: boolean }
  | { kind: "resume"; cause: ResumeCause }
  | { kind: "fresh"; reason: FreshReason; carryOver: "none" | "handoff" };

/** What is known of the work on the open turn besides the state. */
export type Work = {
  /** Time of the last committed checkpoint (epoch ms). Without it no turn is taken for stuck. */
  at?: number;
  /** True when the turn's execution is known to run. */
  running?: boolean;
};

/**
 * Pure over stored times (epoch milliseconds). `pointer`: null when the key was never used; an expired one is given
 * too, since only its times tell the true reason. `state`: the latest snapshot under it, null when there is none.
 * Priority: suspended > resume_pending > idle or daily > continue (G11).
 */
export function resolveSession(
  pointer: { lastUserAt: number } | null,
  state: SessionState | null,
  policy: SessionRules,
  now: number,
  work: Work = {},
): Resolution {
  const fresh = (reason: FreshReason): Resolution => ({
    kind: "fresh",
    reason,
    carryOver: carryOverFor(reason, policy),
  });
  if (!pointer || !state) return fresh("first");
  if (state.lifecycle.kind === "suspended") return fresh("suspended");
  if (state.lifecycle.kind === "closed") return fresh(closedReason(state.lifecycle.reason));
  const { turn, resumePending } = state;
  // The pointer knows messages that still wait for their turn.
  const lastUserAt = Math.max(pointer.lastUserAt, state.lastUserAt);
  if (resumePending) {
    const recent = now - resumePending.at < policy.resumeWithinMs;
    const active = turn !== null || now - lastUserAt < policy.idleAfterMs;
    if (policy.reset === "off" || (recent && active)) return { kind: "resume", cause: resumePending.cause };
    return fresh("idle");
  }
  const due = resetDue(lastUserAt, policy, now);
  if (!turn) return due ? fresh(due) : { kind: "continue" };
  if (due && deferredTooLong(lastUserAt, policy, now)) return fresh("maxDefer");
  if (isStuck(turn, policy, now, work)) return { kind: "resume", cause: "stuck" };
  return { kind: "continue", queued: true };
}

/** Is the handoff record of the old session shown to the new one? */
export function carryOverFor(reason: FreshReason, policy: Pick<SessionRules, "carryOver">): "none" | "handoff" {
  if (reason === "first") return "none";
  if (policy.carryOver) return policy.carryOver;
  return reason === "suspended" || reason === "daily" || reason === "maxDefer" ? "handoff" : "none";
}

/** A call that is being run, or that people are asked about, is live work; so is a wait for the model. */
export function hasLiveWork(turn: TurnState, now: number): boolean {
  if (turn.retry && turn.retry.at > now) return true;
  return turn.calls.some(
    (call) => call.status === "asking" || (call.status === "started" && (call.leaseUntil ?? 0) > now),
  );
}

/** Silence counts from the last sign of life: a checkpoint, the end of a lease, the end of a wait. */
function isStuck(turn: TurnState, policy: SessionRules, now: number, work: Work): boolean {
  if (work.running || work.at === undefined || hasLiveWork(turn, now)) return false;
  const leases = turn.calls.flatMap((call) => (call.status === "started" ? [call.leaseUntil ?? 0] : []));
  const sign = Math.max(work.at, turn.startedAt, turn.retry?.at ?? 0, ...leases);
  return now - sign >= policy.stuckAfterMs;
}

/** Why the session would be reset now if no turn were open; idle before daily. */
function resetDue(lastUserAt: number, policy: SessionRules, now: number): "idle" | "daily" | null {
  const { reset } = policy;
  const silence = now - lastUserAt;
  if ((reset === "idle" || reset === "both") && silence >= policy.idleAfterMs) return "idle";
  const daily = reset === "daily" || reset === "both";
  return daily && silence >= policy.idleGuardMs && localDay(now, policy) > localDay(lastUserAt, policy)
    ? "daily"
    : null;
}

/** An open turn defers a reset; was one due already `maxDefer` ago? */
function deferredTooLong(lastUserAt: number, policy: SessionRules, now: number): boolean {
  return resetDue(lastUserAt, policy, now - policy.maxDeferMs) !== null;
}

const closedReasons = new Set<string>(["idle", "daily", "suspended", "requested", "maxDefer"]);

/** A crash between closing and the pointer's swap: the new session has the reason that the old one was closed for. */
function closedReason(reason: string): FreshReason {
  return closedReasons.has(reason) ? (reason as FreshReason) : "first";
}
