// One record per slot of a task: `due -> claimed -> done | skipped`. Its key is the task and the slot's own id (the
// scheduled time, the event's id), so that whoever comes second finds it there: at most one run each (G17).
import { UnreadableRecord } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Change, Item, Key, Table } from "../ports/table.ts";
import { canonical, decode, encode } from "./encoding.ts";
import { currentFormat, upcast } from "./formats.ts";
import { slotPrefix, slotsPk } from "./keys.ts";

export type SlotKind = "schedule" | "event" | "manual";

/** What the run gets, frozen when the slot is written: every attempt to start it sends the same. */
export type SlotOrder = { agent: string; user: string; text: string; deliverTo?: Json };

export type Slot = {
  id: string;
  task: string;
  kind: SlotKind;
  /** Scheduled time, time of the event or of the request (epoch ms). */
  at: number;
  status: "due" | "claimed" | "done" | "skipped";
  /** Why it was skipped. */
  reason?: string;
  /** The run, once its message was accepted. */
  sessionId?: string;
  turn?: number;
  /** How the run ended. */
  outcome?: "completed" | "error";
  endReason?: string;
  claimedAt?: number;
  settledAt?: number;
  /** Slots this record accounts for, from `at` to `until`, when more than one was skipped at once. */
  count?: number;
  until?: number;
};

export type SlotEnd =
  | { status: "skipped"; reason: string; at: number }
  | { status: "done"; outcome: "completed" | "error"; endReason: string; at: number };

export interface Slots {
  /** Writes a slot that is due, if there is none of this id. "exists": accounted for already. */
  open(
    tenant: string,
    slot: Pick<Slot, "id" | "task" | "kind" | "at">,
    order: SlotOrder,
    due: number,
  ): Promise<"ok" | "exists">;
  /** Writes a slot that never runs, if there is none of this id. */
  skip(
    tenant: string,
    slot: Pick<Slot, "id" | "task" | "kind" | "at" | "count" | "until">,
    reason: string,
    now: number,
  ): Promise<"ok" | "exists">;
  get(tenant: string, task: string, id: string): Promise<Slot | null>;
  order(tenant: string, task: string, id: string): Promise<SlotOrder | null>;
  /** due -> claimed. "refused": it is no longer due. */
  claim(tenant: string, task: string, id: string, now: number, due: number): Promise<"ok" | "refused">;
  /** A claimed slot has its run. */
  started(tenant: string, slot: Slot, run: { sessionId: string; turn: number }, due: number): Promise<void>;
  lookAgain(tenant: string, slot: Slot, due: number): Promise<void>;
  /** Ends a slot that stands at `slot.status`. "refused": it has moved on meanwhile. */
  settle(tenant: string, slot: Slot, end: SlotEnd): Promise<"ok" | "refused">;
  /** Newest first. */
  recent(
    tenant: string,
    task: string,
    options: { limit: number; cursor?: string },
  ): Promise<{ items: Slot[]; cursor?: string }>;
}

/** How long a settled slot can be looked up; more than the 24 h in which an event may come again. */
const keepMs = 90 * 86_400_000;

export function createSlots(table: Table, blobs: Blobs): Slots {
  const keyOf = (tenant: string, task: string, id: string): Key => ({
    pk: slotsPk(tenant, task),
    sk: `${slotPrefix}${id}`,
  });
  const first = (tenant: string, slot: Pick<Slot, "id" | "task" | "kind" | "at">) => ({
    ...keyOf(tenant, slot.task, slot.id),
    format: currentFormat,
    task: slot.task,
    kind: slot.kind,
    at: slot.at,
    list: `${tenant}#runs:${slot.task}`,
    listAt: `${String(slot.at).padStart(15, "0")}#${slot.id}`,
  });
  const update = async (tenant: string, slot: Slot, change: Change): Promise<"ok" | "refused"> => {
    const after = await table.update(keyOf(tenant, slot.task, slot.id), change, { status: slot.status });
    return after === "refused" ? "refused" : "ok";
  };
  const put = async (item: Item): Promise<"ok" | "exists"> =>
    (await table.put(item, { absent: true })) === "ok" ? "ok" : "exists";

  return {
    async open(tenant, slot, order, due) {
      const body = await encode("order", canonical(order), tenant, blobs);
      return put({ ...first(tenant, slot), status: "due", due, ...body });
    },
    skip(tenant, slot, reason, now) {
      const { count, until } = slot;
      const range = { ...(count === undefined ? {} : { count }), ...(until === undefined ? {} : { until }) };
      return put({ ...first(tenant, slot), ...range, status: "skipped", reason, settledAt: now, ttl: ttlFrom(now) });
    },
    async get(tenant, task, id) {
      const item = await table.get(keyOf(tenant, task, id));
      return item ? read(item) : null;
    },
    async order(tenant, task, id) {
      const item = await table.get(keyOf(tenant, task, id));
      if (item?.order === undefined) return null;
      return (await decode(item, "order", tenant, blobs, `${item.pk}/${item.sk}`)) as SlotOrder;
    },
    async claim(tenant, task, id, now, due) {
      const change = { set: { status: "claimed", claimedAt: now, due } };
      const after = await table.update(keyOf(tenant, task, id), change, { status: "due" });
      return after === "refused" ? "refused" : "ok";
    },
    async started(tenant, slot, { sessionId, turn }, due) {
      await update(tenant, { ...slot, status: "claimed" }, { set: { sessionId, turn, due } });
    },
    async lookAgain(tenant, slot, due) {
      await update(tenant, slot, { set: { due } });
    },
    settle(tenant, slot, { at, ...end }) {
      return update(tenant, slot, { set: { ...end, settledAt: at, ttl: ttlFrom(at) }, remove: ["due"] });
    },
    async recent(tenant, task, options) {
      const page = await table.recent({ list: `${tenant}#runs:${task}`, ...options });
      return { items: page.items.map(read), ...(page.cursor ? { cursor: page.cursor } : {}) };
    },
  };
}

function ttlFrom(at: number): number {
  return Math.ceil((at + keepMs) / 1000);
}

const statuses: readonly string[] = ["due", "claimed", "done", "skipped"] satisfies Slot["status"][];
const optional = ["reason", "sessionId", "turn", "outcome", "endReason", "claimedAt", "settledAt", "count", "until"];

function read(raw: Item): Slot {
  const where = `${raw.pk}/${raw.sk}`;
  const item = upcast(raw, where);
  if (!statuses.includes(String(item.status)) || typeof item.task !== "string" || typeof item.at !== "number") {
    throw new UnreadableRecord(`${where}: status, task or time is missing`);
  }
  const more = Object.fromEntries(optional.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));
  const { task, kind, at, status } = item;
  return { id: item.sk.slice(slotPrefix.length), task, kind, at, status, ...more } as Slot;
}
