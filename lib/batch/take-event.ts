// An event from outside starts a run of each task that waits for its kind: one run for one event id, however often and
// wherever it is delivered (EventBridge: at least once, repeats within 24 h).
import { fence } from "../core/context/fence.ts";
import { isDisposition } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { Deps } from "../steps/deps.ts";
import { sha256 } from "../store/encoding.ts";
import type { Task } from "../store/tasks.ts";
import { orderOf } from "./advance-task.ts";
import { runSlot, type SlotRun } from "./run-slot.ts";

export type OutsideEvent = { id: string; source: string; detailType: string; detail: Json };

export type EventRun = { task: string; slot: string; run: SlotRun };

/** Throws a `Transient` when a run could not be started now: the event may be sent again, what runs is not started again. */
export async function takeEvent(deps: Deps, tenant: string, event: OutsideEvent): Promise<EventRun[]> {
  const wanted = (await deps.store.tasks.list(tenant)).filter(
    ({ task }) => task.on?.source === event.source && task.on.detailType === event.detailType,
  );
  const slot = `event-${sha256(`${event.source}\n${event.id}`).slice(0, 32)}`;
  const runs: EventRun[] = [];
  const faults: unknown[] = [];
  for (const { task } of wanted) {
    try {
      const now = deps.clock.now();
      const order = orderOf(task, textFor(task, event));
      await deps.store.slots.open(tenant, { id: slot, task: task.name, kind: "event", at: now }, order, now);
      runs.push({ task: task.name, slot, run: await runSlot(deps, { tenant, task: task.name, slot }) });
    } catch (error) {
      deps.log.warn("an event could not start its run", { tenant, task: task.name, slot });
      faults.push(error);
    }
  }
  const [fault] = faults.toSorted(
    (a, b) => Number(isDisposition(b, "Transient")) - Number(isDisposition(a, "Transient")),
  );
  if (fault !== undefined) throw fault;
  return runs;
}

/** The event is data for the model: quoted, with its origin, after the prompt. */
function textFor(task: Task, { id, source, detailType, detail }: OutsideEvent): string {
  const title = `the event that started this run: ${detailType} ${id} of ${source}`;
  return `${task.prompt}\n\n${fence(title, JSON.stringify(detail, null, 2))}`;
}
