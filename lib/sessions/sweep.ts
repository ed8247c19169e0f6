// What the sweeper (and the boot of the embedded runtime) does for one session: a turn without an execution
// gets one, a message without a turn gets a turn. Repeating it is harmless.
import type { FreshReason, ResumeCause } from "../core/event.ts";
import { maxWaitSeconds } from "../core/limits.ts";
import { type TurnState, turnStatus } from "../core/state.ts";
import { countUsage } from "../steps/budget/count-usage.ts";
import type { Deps } from "../steps/deps.ts";
import { projectGoesOn } from "../steps/project/goes-on.ts";
import { nameExecution } from "../steps/run.ts";
import { takeOverCause } from "../steps/take-over.ts";
import { approvalPrefix, statusSk } from "../store/keys.ts";
import type { Head } from "../store/log.ts";
import type { DueRow } from "../store/statuses.ts";
import { cancelSessionApprovals } from "./approvals/cancel-approvals.ts";
import { type SweptApproval, sweepApproval } from "./approvals/sweep-approval.ts";
import { stopSession } from "./control.ts";
import { resolveNow } from "./current-session.ts";
import { freshSession } from "./move-on.ts";
import { rulesOf } from "./session-rules.ts";
import { startNext } from "./start-next.ts";

export type Swept = "alive" | "resumed" | "started" | "waiting" | "held" | "idle" | "gone";

export type SweepSessionOptions = {
  /** Why an ownerless open turn is taken over, when its own mark does not say it. */
  cause: ResumeCause;
  /** Sets one sweep's executions apart from another's. */
  slot: string;
  /** Asked before an open turn is taken over; true: not now. @default never */
  hold?: (head: Head) => boolean;
};

export async function sweepSession(
  deps: Deps,
  at: { tenant: string; sessionId: string },
  options: SweepSessionOptions,
): Promise<Swept> {
  const { tenant, sessionId } = at;
  const seen = await deps.store.statuses.seen(tenant, sessionId);
  const head = await deps.store.log.head(tenant, sessionId);
  if (!head) {
    await deps.store.statuses.remove(tenant, sessionId);
    return "gone";
  }
  const stop = await deps.store.stops.get(tenant);
  if (stop && (await isToBeStopped(deps, head))) {
    await stopSession(deps, { tenant, sessionId, user: stop.by }, { reason: stop.reason });
    return "waiting";
  }
  if (head.state.turn) return sweepTurn(deps, head, head.state.turn, { ...options, seen });
  // The process may have died right after the turn's end.
  await countUsage(deps, head);
  return sweepIdle(deps, head, { slot: options.slot, seen });
}

/** The tenant's stop is for sessions that work, or have work waiting. */
async function isToBeStopped(deps: Deps, { state, tenant, sessionId }: Head): Promise<boolean> {
  if (state.lifecycle.kind !== "open") return false;
  if (state.turn) return !state.turn.stop?.thenSuspend;
  return (await deps.store.inbox.list(tenant, sessionId, { limit: 1 })).length > 0;
}

/** A session between turns: what waits in it becomes a turn, here or in the session after it. */
async function sweepIdle(deps: Deps, head: Head, { slot, seen }: { slot: string; seen: number }): Promise<Swept> {
  const { lifecycle, marks } = head.state;
  const waiting = await deps.store.inbox.waiting(head.tenant, head.sessionId);
  const held = lifecycle.kind === "suspended" ? (lifecycle.heldSeq ?? 0) : 0;
  const left = waiting.some(({ seq }) => seq > held);
  const due = left || marks.compactRequested !== undefined || projectGoesOn(deps, head);
  if (lifecycle.kind === "open" && due) {
    await startNext(deps, head, `w${head.version}-${slot}`);
    return "started";
  }
  if (lifecycle.kind === "closed" ? lifecycle.successor : lifecycle.kind === "suspended" && left) {
    return sweepFresh(deps, head, "suspended", slot);
  }
  await deps.store.statuses.rest(head.state, head.version, head.at, seen);
  return "idle";
}

/** Finishes a reset that was cut off, or makes one; then starts what has moved. */
async function sweepFresh(deps: Deps, head: Head, reason: FreshReason, slot: string): Promise<Swept> {
  const next = await freshSession(deps, head, reason);
  if (!next) return "waiting";
  const seen = await deps.store.statuses.seen(head.tenant, head.sessionId);
  const closed = await deps.store.log.head(head.tenant, head.sessionId);
  const left = await deps.store.inbox.waiting(head.tenant, head.sessionId);
  if (closed && left.length === 0) await deps.store.statuses.rest(closed.state, closed.version, closed.at, seen);
  if (next.state.turn || next.state.lifecycle.kind !== "open") return "idle";
  const waiting = await deps.store.inbox.list(next.tenant, next.sessionId, { limit: 1 });
  if (waiting.length === 0) return "idle";
  await startNext(deps, next, `w${next.version}-${slot}`);
  return "started";
}

async function sweepTurn(
  deps: Deps,
  head: Head,
  turn: TurnState,
  options: SweepSessionOptions & { seen: number },
): Promise<Swept> {
  const { tenant, sessionId } = head;
  const now = deps.clock.now();
  const lookAgain = (due: number) => deps.store.statuses.write(head.state, head.version, now, due);
  const { stuckAfterMs } = rulesOf(deps, head.state.agent);
  if (turn.stop && turn.calls.some((call) => call.status === "asking")) {
    // Stopped, and the process died before people were told.
    await cancelSessionApprovals(deps, { tenant, sessionId }, `stopped: ${turn.stop.reason}`);
  }
  if (await deps.orchestrator.isRunning(turn.owner)) {
    // Waiting for people costs nothing: the approval is due by itself.
    if (turnStatus(head.state) === "waiting_for_input" && !turn.stop) {
      await deps.store.statuses.rest(head.state, head.version, now, options.seen);
    } else await lookAgain(now + stuckAfterMs);
    return "alive";
  }
  // A stop does not wait for the model's provider.
  if (turn.retry && turn.retry.at > now && !turn.stop) {
    await lookAgain(turn.retry.at);
    return "waiting";
  }
  const verdict = await resolveNow(deps, await deps.store.pointers.get(tenant, head.state.key), head);
  if (verdict.kind === "fresh" && !turn.stop) return sweepFresh(deps, head, verdict.reason, options.slot);
  if (options.hold?.(head)) return "held";
  const cause = takeOverCause(causeOf(turn, head.state.resumePending?.cause ?? options.cause), turn.owner);
  await lookAgain(now + stuckAfterMs);
  const name = nameExecution({
    tenant,
    sessionId,
    turn: turn.turn,
    segment: turn.segment,
    salt: `r${head.version}-${options.slot}`,
  });
  await deps.orchestrator.start(name, { tenant, sessionId, turn: turn.turn, segment: turn.segment, cause });
  return "resumed";
}

/**
 * A turn that has waited for the model goes on because it is due. One that was asking the model again when its process
 * died goes on because of that, or it would be taken up for ever.
 */
function causeOf({ retry }: TurnState, known: ResumeCause): ResumeCause {
  if (!retry) return known;
  const { since = retry.at } = retry;
  // Too long for the machine's Wait: its execution had ended by itself, and nobody has taken the turn up since.
  const leftAlone = retry.at - since > maxWaitSeconds * 1000;
  return leftAlone || known === "stuck" || known === "shutdown" ? "due" : known;
}

/** Rows between two looks at whether there is time for more. */
const pageSize = 50;

export type SweepCounts = Record<string, number>;

export type SweepOptions = SweepSessionOptions & {
  /** Epoch milliseconds. */
  before: number;
  /** Looks after rows that are neither sessions nor approvals; null: not this one. */
  others?: (row: DueRow) => Promise<string> | null;
  /** Where an earlier run had to stop. */
  from?: string;
  /** Asked after each page; false ends the run, and `onStop` is told where. @default always true */
  goOn?: () => boolean;
  onStop?: (cursor: string) => void;
};

/** Looks after everything that is due until `before`; answers how many of each. One bad session does not stop the others. */
export async function sweepDue(deps: Deps, options: SweepOptions): Promise<SweepCounts> {
  const counts: SweepCounts = {};
  /** Sessions looked after in this run: a second execution would take the turn from the first. */
  const seen = new Set<string>();
  const session = async (row: DueRow, cause: ResumeCause): Promise<Swept> => {
    seen.add(`${row.tenant}#${row.id}`);
    return sweepSession(deps, { tenant: row.tenant, sessionId: row.id }, { ...options, cause });
  };
  const approval = (row: DueRow): Promise<SweptApproval> =>
    sweepApproval(
      deps,
      { tenant: row.tenant, id: row.sk.slice(approvalPrefix.length) },
      {
        // After a crash nobody else can be sending its mails.
        force: options.cause === "crash",
        onOwnerless: async () => {
          if (seen.has(`${row.tenant}#${row.id}`)) return;
          await session(row, options.cause === "crash" ? "crash" : "decision");
        },
      },
    );
  const one = (row: DueRow): Promise<string> | null => {
    if (row.sk === statusSk) return seen.has(`${row.tenant}#${row.id}`) ? null : session(row, options.cause);
    return isOwn(row) ? approval(row) : (options.others?.(row) ?? null);
  };
  let cursor = options.from;
  do {
    const page = await deps.store.statuses.due(options.before, { limit: pageSize, ...(cursor ? { cursor } : {}) });
    const look = async (row: DueRow): Promise<void> => {
      const outcome = await one(row)?.catch((error: unknown) => {
        const name = error instanceof Error ? error.name : "Error";
        deps.log.error("sweep failed", { sessionId: row.id, error: name });
        return "failed" as const;
      });
      if (outcome) counts[outcome] = (counts[outcome] ?? 0) + 1;
    };
    const own = page.rows.filter(isOwn);
    for (const row of own) await look(row);
    // A receiver that does not answer keeps nobody else waiting.
    await Promise.all(page.rows.filter((row) => !own.includes(row)).map(look));
    cursor = page.cursor;
    if (cursor !== undefined && options.goOn?.() === false) {
      options.onStop?.(cursor);
      break;
    }
  } while (cursor);
  return counts;
}

function isOwn(row: DueRow): boolean {
  return row.sk === statusSk || row.sk.startsWith(approvalPrefix);
}
