// The store over each kind of table, for tests that must hold on all of them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFilesBlobs } from "../../lib/adapters/files-blobs.ts";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { createSqliteTable } from "../../lib/adapters/sqlite-table.ts";
import type { Event } from "../../lib/core/event.ts";
import type { Blobs } from "../../lib/ports/blobs.ts";
import type { Table } from "../../lib/ports/table.ts";
import { createStore, type Store } from "../../lib/store/index.ts";
import type { Head } from "../../lib/store/log.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";

export type Kit = {
  table: Table;
  blobs: Blobs;
  clock: ReturnType<typeof fakeClock>;
  store: Store;
  close(): Promise<void>;
};

export function kitOver(table: Table, blobs: Blobs, clock = fakeClock()): Omit<Kit, "close"> {
  return { table, blobs, clock, store: createStore({ table, blobs, clock }) };
}

export const kits: { name: string; open(): Promise<Kit> }[] = [
  {
    name: "memory",
    async open() {
      const clock = fakeClock();
      const table = createMemoryTable({ now: () => clock.now() });
      return { ...kitOver(table, createMemoryBlobs(), clock), close: () => table.close() };
    },
  },
  {
    name: "sqlite and files",
    async open() {
      const folder = mkdtempSync(join(tmpdir(), "baton-store-"));
      const clock = fakeClock();
      const table = createSqliteTable({ file: join(folder, "baton.sqlite"), now: () => clock.now() });
      const close = async () => {
        await table.close();
        rmSync(folder, { recursive: true, force: true });
      };
      return { ...kitOver(table, createFilesBlobs({ dir: join(folder, "blobs") }), clock), close };
    },
  },
];

let writers = 0;
/** A writer of its own for each call. */
export const newWriter = (name = `writer ${++writers}`) => {
  let count = 0;
  return { next: () => `${name}.${++count}` };
};

export const sessionId = "20261130_120000_0000abcd";

export const created: Event = {
  type: "session.created",
  tenant: "acme",
  sessionId,
  key: "agent:test",
  user: "ann",
  agent: "relay",
  reason: "first",
};

export const notice = (text: string): Event => ({ type: "notice", kind: "test", text });

/** A session with `count` versions: the first and notices. */
export async function filled(store: Store, count: number): Promise<Head> {
  let head = await store.log.append(null, created, newWriter());
  for (let version = 2; version <= count; version++)
    head = await store.log.append(head, notice(`n${version}`), newWriter());
  return head;
}
