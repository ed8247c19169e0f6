// A fresh table for each test, with the time in the test's hands.
import { afterEach, beforeEach } from "vitest";
import type { Item, Table } from "../../../lib/ports/table.ts";

/** Gives an empty table that tells the time by `now` (epoch milliseconds). */
export type CreateTable = (options: { now: () => number }) => Promise<Table>;

export type TableUnderTest = {
  readonly table: Table;
  /** Set to startMs before each test. */
  nowMs: number;
  putAll(items: Item[]): Promise<void>;
};

export const startMs = Date.UTC(2026, 10, 30, 12, 0, 0);
export const startSeconds = startMs / 1000;
export const key = { pk: "acme#s1", sk: "V#000000000001" };

/** Call it within a `describe`: it opens and closes the table around each test there. */
export function tableUnderTest(create: CreateTable): TableUnderTest {
  let table: Table;
  const subject: TableUnderTest = {
    get table() {
      return table;
    },
    nowMs: startMs,
    async putAll(items) {
      for (const item of items) await table.put(item);
    },
  };
  beforeEach(async () => {
    subject.nowMs = startMs;
    table = await create({ now: () => subject.nowMs });
  });
  afterEach(() => table.close());
  return subject;
}
