// One run of the sweeper over everything that is due: sessions and approvals, then tasks, slots and answers.
// Bounded by its caller; a run that had to stop says where the next one goes on.
import { advanceTask } from "../batch/advance-task.ts";
import { runSlot } from "../batch/run-slot.ts";
import { deliverAnswer } from "../delivery/deliver-answer.ts";
import { type SweepSessionOptions, sweepDue } from "../sessions/sweep.ts";
import type { Deps } from "../steps/deps.ts";
import { deliveryTurn } from "../store/deliveries.ts";
import { deliveryPrefix, slotPrefix, taskPrefix, unescapePart } from "../store/keys.ts";
import type { DueRow } from "../store/statuses.ts";

export type SweepAllOptions = SweepSessionOptions & {
  /** Epoch milliseconds. */
  before: number;
  /** Where an earlier run had to stop. */
  from?: string;
  /** Asked after each page; false ends the run. @default always true */
  goOn?: () => boolean;
};

export type SweptAll = {
  counts: Record<string, number> /** Where the next run goes on; absent: everything was looked at. */;
  cursor?: string;
};

export async function sweepAll(deps: Deps, options: SweepAllOptions): Promise<SweptAll> {
  let cursor: string | undefined;
  const counts = await sweepDue(deps, {
    ...options,
    others: (row) => sweepOther(deps, row),
    onStop: (at) => {
      cursor = at;
    },
  });
  return { counts, ...(cursor === undefined ? {} : { cursor }) };
}

/** Tasks, slots and answers; null for a row that is none of them or not due yet. */
function sweepOther(deps: Deps, row: DueRow): Promise<string> | null {
  const { tenant, sk } = row;
  if (row.due > deps.clock.now()) return null;
  if (sk.startsWith(deliveryPrefix)) {
    return prefixed("answer", deliverAnswer(deps, { tenant, sessionId: row.id, turn: deliveryTurn(sk) }));
  }
  if (sk.startsWith(taskPrefix)) {
    const name = unescapePart(sk.slice(taskPrefix.length));
    return advanceTask(deps, { tenant, name }).then(() => "task");
  }
  if (sk.startsWith(slotPrefix)) {
    const at = { tenant, task: row.id.replace(/^task:/, ""), slot: sk.slice(slotPrefix.length) };
    return prefixed("run", runSlot(deps, at));
  }
  return null;
}

async function prefixed(what: string, outcome: Promise<string>): Promise<string> {
  return `${what} ${await outcome}`;
}
