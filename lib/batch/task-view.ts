// Tasks and runs as they are shown outside: times in ISO 8601, nothing of how they are kept.
import type { Json } from "../core/json.ts";
import type { Delivery } from "../store/deliveries.ts";
import type { Slot, SlotKind } from "../store/slots.ts";
import type { StoredTask } from "../store/tasks.ts";

export type TaskView = {
  name: string;
  agent: string;
  prompt: string;
  schedule?: { cron: string; timeZone: string };
  on?: { source: string; detailType: string };
  catchUp: "none" | "once";
  deliverTo?: Json;
  user: string;
  createdAt: string;
  updatedAt: string;
  /** The next slot. */
  nextAt?: string;
};

export type RunView = {
  slot: string;
  kind: SlotKind;
  status: Slot["status"];
  at: string;
  reason?: string;
  sessionId?: string;
  turn?: number;
  outcome?: "completed" | "error";
  endReason?: string;
  startedAt?: string;
  finishedAt?: string;
  count?: number;
  until?: string;
  delivery?: { status: Delivery["status"]; attempts: number; reason?: string };
};

export function viewTask({ task, nextAt }: StoredTask): TaskView {
  const { createdAt, updatedAt, ...rest } = task;
  return {
    ...rest,
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
    ...(nextAt === undefined ? {} : { nextAt: iso(nextAt) }),
  };
}

export function viewRun(slot: Slot, delivery: Delivery | null = null): RunView {
  const { id, kind, status, at, claimedAt, settledAt, until, task: _task, ...rest } = slot;
  return {
    slot: id,
    kind,
    status,
    at: iso(at),
    ...rest,
    ...(claimedAt === undefined ? {} : { startedAt: iso(claimedAt) }),
    ...(settledAt === undefined ? {} : { finishedAt: iso(settledAt) }),
    ...(until === undefined ? {} : { until: iso(until) }),
    ...(delivery ? { delivery: viewDelivery(delivery) } : {}),
  };
}

function viewDelivery({ status, attempts, reason }: Delivery): NonNullable<RunView["delivery"]> {
  return { status, attempts, ...(reason === undefined ? {} : { reason }) };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
