// Everything that is stored, over one small `Table` port. Written once; no adapter knows any of it.
import type { Event } from "../core/event.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Clock } from "../ports/clock.ts";
import type { Table } from "../ports/table.ts";
import { type Approvals, createApprovals } from "./approvals.ts";
import { type Attempts, createAttempts } from "./attempts.ts";
import { createInbox, type Inbox } from "./inbox.ts";
import { createLog, type Head, type Log } from "./log.ts";
import { createOnceRecords, type OnceRecords } from "./once.ts";
import { createPointers, type Pointers } from "./pointers.ts";
import { createStatuses, type Statuses } from "./statuses.ts";

export type Store = {
  log: Log;
  pointers: Pointers;
  inbox: Inbox;
  once: OnceRecords;
  statuses: Statuses;
  approvals: Approvals;
  attempts: Attempts;
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
    approvals: createApprovals({ table, blobs, clock }),
    attempts: createAttempts(table, () => clock.now()),
  };
}
