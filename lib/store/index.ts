// Everything that is stored, over one small `Table` port. Written once; no adapter knows any of it.
import type { Event } from "../core/event.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Clock } from "../ports/clock.ts";
import type { Table } from "../ports/table.ts";
import { type Approvals, createApprovals } from "./approvals.ts";
import { type Attempts, createAttempts } from "./attempts.ts";
import { type Budgets, createBudgets } from "./budgets.ts";
import { createDeliveries, type Deliveries } from "./deliveries.ts";
import { createFacts, type Facts } from "./facts.ts";
import { createInbox, type Inbox } from "./inbox.ts";
import { createLessons, type Lessons } from "./lessons.ts";
import { createLimiters, type Limiters } from "./limiters.ts";
import { createLog, type Head, type Log } from "./log.ts";
import { createOnceRecords, type OnceRecords } from "./once.ts";
import { createPointers, type Pointers } from "./pointers.ts";
import { createSlots, type Slots } from "./slots.ts";
import { createStatuses, type Statuses } from "./statuses.ts";
import { createStops, type Stops } from "./stops.ts";
import { createTasks, type Tasks } from "./tasks.ts";
import { createUsageDays, type UsageDays } from "./usage-days.ts";

export type Store = {
  log: Log;
  pointers: Pointers;
  inbox: Inbox;
  once: OnceRecords;
  statuses: Statuses;
  stops: Stops;
  approvals: Approvals;
  attempts: Attempts;
  deliveries: Deliveries;
  tasks: Tasks;
  slots: Slots;
  budgets: Budgets;
  usageDays: UsageDays;
  limiters: Limiters;
  facts: Facts;
  lessons: Lessons;
  table: Table;
  blobs: Blobs;
};

export type StoreOptions = {
  table: Table;
  blobs: Blobs;
  clock: Clock;
  onCommit?: (head: Head, event: Event) => void;
  cacheBytes?: number;
};

export function createStore(options: StoreOptions): Store {
  const { table, blobs, clock } = options;
  return {
    table,
    blobs,
    log: createLog(options),
    pointers: createPointers(table),
    inbox: createInbox(table, blobs),
    once: createOnceRecords(table, () => clock.now()),
    statuses: createStatuses(table),
    stops: createStops(table),
    approvals: createApprovals({ table, blobs, clock }),
    attempts: createAttempts(table, () => clock.now()),
    deliveries: createDeliveries(table),
    tasks: createTasks(table, blobs),
    slots: createSlots(table, blobs),
    budgets: createBudgets(table, clock),
    usageDays: createUsageDays(table, clock),
    limiters: createLimiters(table, clock),
    facts: createFacts(table, clock),
    lessons: createLessons(table, blobs),
  };
}
