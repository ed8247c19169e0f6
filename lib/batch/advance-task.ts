// The scheduler's part for one task: a record for every slot that has come, then the schedule moves on, then the slots
// run. In this order, so that a crash in between repeats work that is refused, and loses none.
import type { Deps } from "../steps/deps.ts";
import type { SlotOrder } from "../store/slots.ts";
import type { Task } from "../store/tasks.ts";
import { graceMs, reasons, runSlot } from "./run-slot.ts";
import { type Schedule, slotsUntil } from "./schedule.ts";

export type Advanced = { started: number; skipped: number };

/** Slots that have a record of their own; of more than these at once, those missed share one. */
const maxSlots = 100;
/** Batches of slots in one visit; the next visit goes on. */
const maxBatches = 20;

/** Accounts for every slot of the task that has come, and starts what is to run. Repeatable, by any number of schedulers. */
export async function advanceTask(deps: Deps, at: { tenant: string; name: string }): Promise<Advanced> {
  const { tenant, name } = at;
  const now = deps.clock.now();
  const total: Advanced = { started: 0, skipped: 0 };
  for (let batch = 0; batch < maxBatches; batch++) {
    const stored = await deps.store.tasks.get(tenant, name);
    const { nextAt, task } = stored ?? {};
    if (!task?.schedule || nextAt === undefined || nextAt > now) return total;
    const due = slotsUntil(task.schedule, nextAt, now, maxSlots);
    const opened = await account(deps, tenant, task, due, now, total);
    if ((await deps.store.tasks.advance(tenant, name, nextAt, due.next)) === "refused") continue;
    for (const slot of opened) {
      const run = await runSlot(deps, { tenant, task: name, slot });
      if (run === "started") total.started++;
      if (run === "skipped") total.skipped++;
    }
  }
  return total;
}

/** Writes the records of these slots; answers the ids of those that are to run. */
async function account(
  deps: Deps,
  tenant: string,
  task: Task & { schedule?: Schedule },
  { slots, next }: { slots: number[]; next: number | null },
  now: number,
  total: Advanced,
): Promise<string[]> {
  const [first] = slots;
  const last = slots.at(-1);
  if (first === undefined || last === undefined) return [];
  const missed = slots.filter((slot) => slot < now - graceMs);
  const record = (slot: number) => ({ id: slotId(slot), task: task.name, kind: "schedule" as const, at: slot });
  if (missed.length === maxSlots && next !== null && next < now - graceMs) {
    const range = { ...record(first), count: slots.length, until: last };
    if ((await deps.store.slots.skip(tenant, range, reasons.missed, now)) === "ok") total.skipped += slots.length;
    return [];
  }
  // A slot that is on time stands for those that were missed.
  const caughtUp = task.catchUp === "once" && missed.length === slots.length && (next ?? now + 1) > now ? last : null;
  const opened: string[] = [];
  for (const slot of slots) {
    if (slot < now - graceMs && slot !== caughtUp) {
      if ((await deps.store.slots.skip(tenant, record(slot), reasons.missed, now)) === "ok") total.skipped++;
    } else if ((await deps.store.slots.open(tenant, record(slot), orderOf(task), now)) === "ok") {
      opened.push(slotId(slot));
    }
  }
  return opened;
}

export function orderOf(task: Task, text = task.prompt): SlotOrder {
  const { agent, user, deliverTo } = task;
  return { agent, user, text, ...(deliverTo === undefined ? {} : { deliverTo }) };
}

/** `20260329T010000Z`: the scheduled time, so that every scheduler names the slot alike. */
function slotId(at: number): string {
  return new Date(at).toISOString().replace(/[-:]|\.\d{3}/g, "");
}
