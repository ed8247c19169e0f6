// Gives a slot its run: due -> claimed -> a message with the slot's id as its idempotency key. Whatever dies in between,
// the next visit goes on where this one was; two visitors make one run.
import { isDisposition, toErrorRecord } from "../core/errors.ts";
import { acceptMessage } from "../sessions/accept.ts";
import type { Deps } from "../steps/deps.ts";
import type { Slot } from "../store/slots.ts";
import { runKey } from "./run-key.ts";
import { settleSlot } from "./settle-slot.ts";

export type SlotRun = "started" | "skipped" | "running" | "done" | "gone";

/** Until a claimed slot without a run is tried again. */
const retryMs = 60_000;
/** Between two looks at a run, besides the end of its execution. */
const lookAgainMs = 5 * 60_000;

/** A scheduled slot that is found later than this was missed. */
export const graceMs = 5 * 60_000;

export const reasons = {
  running: "still running",
  removed: "the task was removed",
  missed: "missed while nothing ran",
};

/** Throws a `Transient` when the run could not be started now; the slot is then due again. */
export async function runSlot(deps: Deps, at: { tenant: string; task: string; slot: string }): Promise<SlotRun> {
  const { tenant } = at;
  const slot = await deps.store.slots.get(tenant, at.task, at.slot);
  if (!slot) return "gone";
  if (slot.status === "done" || slot.status === "skipped") return "done";
  if (slot.sessionId !== undefined) return (await lookAt(deps, tenant, slot)) ? "done" : "running";
  if (slot.status === "due") {
    const obstacle = await obstacleTo(deps, tenant, slot);
    if (obstacle) return skip(deps, tenant, slot, obstacle);
    const now = deps.clock.now();
    // Whoever was first is about to start it; were it to die, the slot is due again.
    if ((await deps.store.slots.claim(tenant, slot.task, slot.id, now, now + retryMs)) === "refused") return "running";
  }
  return start(deps, tenant, { ...slot, status: "claimed" });
}

/** Why the slot must not run; null when it may. Scheduled slots of a task run one at a time. */
async function obstacleTo(deps: Deps, tenant: string, slot: Slot): Promise<string | null> {
  const { tasks, slots } = deps.store;
  const stored = await tasks.get(tenant, slot.task);
  if (!stored) return reasons.removed;
  if (slot.kind !== "schedule") return null;
  if (slot.at < deps.clock.now() - graceMs && stored.task.catchUp === "none") return reasons.missed;
  for (;;) {
    const holder = await tasks.occupy(tenant, slot.task, slot.id);
    if (holder === null) return reasons.removed;
    if (holder === slot.id) return null;
    const other = await slots.get(tenant, slot.task, holder);
    const over = !other || other.status === "done" || other.status === "skipped" || (await lookAt(deps, tenant, other));
    if (!over) return reasons.running;
    await tasks.vacate(tenant, slot.task, holder);
  }
}

async function start(deps: Deps, tenant: string, slot: Slot): Promise<SlotRun> {
  const { slots } = deps.store;
  const order = await slots.order(tenant, slot.task, slot.id);
  if (!order) return skip(deps, tenant, slot, "its order cannot be read");
  const now = deps.clock.now();
  try {
    const run = await acceptMessage(deps, {
      tenant,
      user: order.user,
      agent: order.agent,
      key: runKey({ agent: order.agent, task: slot.task, slot: slot.id }),
      content: [{ type: "text", text: order.text }],
      busy: "enqueue",
      idempotencyKey: `task:${slot.task}:${slot.id}`,
      via: "task",
      ...(order.deliverTo === undefined ? {} : { deliverTo: order.deliverTo }),
    });
    await slots.started(tenant, slot, run, now + lookAgainMs);
    return "started";
  } catch (error) {
    if (!isDisposition(error, "Misuse") && !isDisposition(error, "Terminal")) {
      await slots.lookAgain(tenant, slot, now + retryMs).catch(() => {});
      throw error;
    }
    return skip(deps, tenant, slot, `cannot start: ${toErrorRecord(error).message}`.slice(0, 500));
  }
}

async function skip(deps: Deps, tenant: string, slot: Slot, reason: string): Promise<"skipped"> {
  await deps.store.slots.settle(tenant, slot, { status: "skipped", reason, at: deps.clock.now() });
  await deps.store.tasks.vacate(tenant, slot.task, slot.id);
  return "skipped";
}

/** True when the slot's run has ended, which is then written down. */
async function lookAt(deps: Deps, tenant: string, slot: Slot): Promise<boolean> {
  if (await settleSlot(deps, tenant, slot)) return true;
  await deps.store.slots.lookAgain(tenant, slot, deps.clock.now() + lookAgainMs);
  return false;
}
