// Defining a task. Defining it again is the same task: its schedule goes on where it stands, unless the schedule is
// another one.
import * as z from "zod";
import { agentName } from "../core/define-agent.ts";
import { InvalidInput } from "../core/errors.ts";
import { checkDeliverTo, deliverTo } from "../delivery/deliver-to.ts";
import type { Deps } from "../steps/deps.ts";
import { canonical } from "../store/encoding.ts";
import type { StoredTask, Task } from "../store/tasks.ts";
import { checkSchedule, nextSlot } from "./schedule.ts";

const eventName = z.string().min(1).max(256);

export const taskInput = z.strictObject({
  name: agentName,
  agent: agentName,
  prompt: z
    .string()
    .max(100_000)
    .refine((text) => text.trim() !== "" && text.isWellFormed(), "must be well-formed and not blank"),
  schedule: z
    .strictObject({ cron: z.string().min(1).max(200), timeZone: z.string().max(64).default("UTC") })
    .optional(),
  on: z.strictObject({ source: eventName, detailType: eventName }).optional(),
  catchUp: z.enum(["none", "once"]).default("none"),
  deliverTo: deliverTo.optional(),
});
export type TaskInput = z.output<typeof taskInput>;

/** Throws `InvalidInput` with the field at fault. Without schedule and event a task runs by hand. */
export async function putTask(
  deps: Deps,
  by: { tenant: string; user: string },
  input: TaskInput,
): Promise<{ stored: StoredTask; result: "created" | "updated" }> {
  const { tenant, user } = by;
  const now = deps.clock.now();
  check(deps, input, now);
  const before = await deps.store.tasks.get(tenant, input.name);
  const { deliverTo: target, schedule, on, ...rest } = input;
  const task: Task = {
    ...rest,
    ...(schedule ? { schedule } : {}),
    ...(on ? { on } : {}),
    ...(target ? { deliverTo: target } : {}),
    user,
    createdAt: now,
    updatedAt: now,
  };
  const same = before?.nextAt !== undefined && canonical(before.task.schedule ?? null) === canonical(schedule ?? null);
  const nextAt = schedule ? (same ? (before.nextAt ?? null) : nextSlot(schedule, now)) : null;
  const result = await deps.store.tasks.put(tenant, task, nextAt);
  const stored = await deps.store.tasks.get(tenant, input.name);
  return { stored: stored ?? { task }, result };
}

function check(deps: Deps, input: TaskInput, now: number): void {
  if (!deps.agents.has(input.agent)) {
    const message = `unknown; one of: ${[...deps.agents.keys()].join(", ")}`;
    throw new InvalidInput(`agent: ${message}`, { errors: [{ path: "$.agent", message }] });
  }
  if (input.schedule) checkSchedule(input.schedule, now);
  if (input.deliverTo) checkDeliverTo(input.deliverTo, deps.webhooks);
}
