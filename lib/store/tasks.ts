// Batch tasks of a tenant: what is to run and when. What a person defines stands apart from how far the schedule is,
// so that defining it again loses nothing.
import { UnreadableRecord } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Item, Table, Value } from "../ports/table.ts";
import { canonical, decode, encode } from "./encoding.ts";
import { currentFormat, upcast } from "./formats.ts";
import { taskKey, taskPrefix, tasksPk } from "./keys.ts";

export type Task = {
  name: string;
  agent: string;
  prompt: string;
  /** Five fields (or @daily …) in an IANA zone. */
  schedule?: { cron: string; timeZone: string };
  /** Events that start a run. */
  on?: { source: string; detailType: string };
  /** Of the slots that were missed while nothing ran: none, or the latest one. */
  catchUp: "none" | "once";
  deliverTo?: Json;
  /** Who defined it; its runs are theirs. */
  user: string;
  /** Epoch milliseconds. */
  createdAt: number;
  updatedAt: number;
};

export type StoredTask = {
  task: Task;
  /** The first slot that is not accounted for yet (epoch ms); absent: no schedule. */
  nextAt?: number;
  /** The scheduled slot that runs. */
  running?: string;
};

export interface Tasks {
  /** Defines the task, or defines it anew; a slot that runs goes on. The first definition's time stays. */
  put(tenant: string, task: Task, nextAt: number | null): Promise<"created" | "updated">;
  get(tenant: string, name: string): Promise<StoredTask | null>;
  list(tenant: string): Promise<StoredTask[]>;
  /** Moves the schedule on; "refused": another scheduler or a new definition was first. */
  advance(tenant: string, name: string, from: number, to: number | null): Promise<"ok" | "refused">;
  /** Makes `slotId` the slot that runs, if none does. Answers the one that does; null: the task is gone. */
  occupy(tenant: string, name: string, slotId: string): Promise<string | null>;
  /** `slotId` runs no more. */
  vacate(tenant: string, name: string, slotId: string): Promise<void>;
  /** Removing what is not there is fine. */
  remove(tenant: string, name: string): Promise<void>;
}

export function createTasks(table: Table, blobs: Blobs): Tasks {
  async function get(tenant: string, name: string): Promise<StoredTask | null> {
    const item = await table.get(taskKey(tenant, name));
    return item ? read(item, tenant, blobs) : null;
  }

  return {
    get,
    async put(tenant, task, nextAt) {
      const key = taskKey(tenant, task.name);
      for (;;) {
        const before = await get(tenant, task.name);
        const kept = before ? { ...task, createdAt: before.task.createdAt } : task;
        const attributes = { ...(await encode("task", canonical(kept), tenant, blobs)), ...when(nextAt) };
        if (!before) {
          if ((await table.put({ ...key, format: currentFormat, ...attributes }, { absent: true })) === "ok")
            return "created";
          continue;
        }
        const remove = ["taskEnc", "nextAt", "due"].filter((name) => !(name in attributes));
        if ((await table.update(key, { set: attributes, remove })) !== "refused") return "updated";
      }
    },
    async list(tenant) {
      const items = await table.query({ pk: tasksPk(tenant), prefix: taskPrefix });
      return Promise.all(items.map((item) => read(item, tenant, blobs)));
    },
    async advance(tenant, name, from, to) {
      const change = { set: when(to), ...(to === null ? { remove: ["nextAt", "due"] } : {}) };
      return (await table.update(taskKey(tenant, name), change, { nextAt: from })) === "refused" ? "refused" : "ok";
    },
    async occupy(tenant, name, slotId) {
      const key = taskKey(tenant, name);
      for (;;) {
        if ((await table.update(key, { set: { running: slotId } }, { running: undefined })) !== "refused")
          return slotId;
        const found = await table.get(key);
        if (!found) return null;
        if (typeof found.running === "string") return found.running;
      }
    },
    async vacate(tenant, name, slotId) {
      await table.update(taskKey(tenant, name), { remove: ["running"] }, { running: slotId });
    },
    async remove(tenant, name) {
      await table.remove(taskKey(tenant, name));
    },
  };
}

/** The sweeper looks when the next slot is due. */
function when(nextAt: number | null): Record<string, Value> {
  return nextAt === null ? {} : { nextAt, due: nextAt };
}

async function read(raw: Item, tenant: string, blobs: Blobs): Promise<StoredTask> {
  const where = `${raw.pk}/${raw.sk}`;
  const item = upcast(raw, where);
  const task = (await decode(item, "task", tenant, blobs, where)) as Task;
  if (typeof task?.name !== "string" || typeof task.prompt !== "string") {
    throw new UnreadableRecord(`${where}.task: name or prompt is missing`);
  }
  return {
    task,
    ...(typeof item.nextAt === "number" ? { nextAt: item.nextAt } : {}),
    ...(typeof item.running === "string" ? { running: item.running } : {}),
  };
}
