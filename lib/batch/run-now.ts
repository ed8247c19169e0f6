// A run by hand, besides the schedule.
import { NotFound } from "../core/errors.ts";
import type { Deps } from "../steps/deps.ts";
import { sha256 } from "../store/encoding.ts";
import type { Slot } from "../store/slots.ts";
import { orderOf } from "./advance-task.ts";
import { runSlot } from "./run-slot.ts";

/** `requestId`: the same one again is the same run. Throws `NotFound`. */
export async function runNow(deps: Deps, at: { tenant: string; name: string }, requestId?: string): Promise<Slot> {
  const { tenant, name } = at;
  const stored = await deps.store.tasks.get(tenant, name);
  if (!stored) throw new NotFound("no such task");
  const now = deps.clock.now();
  const id = `manual-${requestId === undefined ? deps.ids.uuid() : sha256(requestId).slice(0, 32)}`;
  await deps.store.slots.open(tenant, { id, task: name, kind: "manual", at: now }, orderOf(stored.task), now);
  await runSlot(deps, { tenant, task: name, slot: id });
  const slot = await deps.store.slots.get(tenant, name, id);
  if (!slot) throw new NotFound("no such run");
  return slot;
}
