// A tenant with tasks on the embedded runtime: real steps, machine and store; the clock is the test's, processes can be
// many over one table.
import { defineAgent } from "baton";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { listRuns } from "../../lib/batch/list-runs.ts";
import { putTask, taskInput } from "../../lib/batch/put-task.ts";
import type { RunView } from "../../lib/batch/task-view.ts";
import type { Model } from "../../lib/ports/model.ts";
import { type Embedded, type EmbedOptions, embed } from "../../lib/testing/embed.ts";
import { type FakeClock, fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable, type FaultPlan } from "../../lib/testing/faulty-table.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";

export const reporter = defineAgent({ name: "reporter", instructions: "Report.", model: { id: "scripted" } });
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

export type TaskWorld = {
  clock: FakeClock;
  /** A process; `plan`: what its table does to it. */
  start(
    options?: Partial<EmbedOptions> & { plan?: FaultPlan },
  ): Embedded & { dead: () => boolean; writes: () => number };
};

export function taskWorld(start: string): TaskWorld {
  const clock = fakeClock({ start: Date.parse(start) });
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  let processes = 0;
  return {
    clock,
    start({ plan = [], ...options } = {}) {
      const table = createFaultyTable(base, plan);
      const ids = seededIds(`process ${++processes}`);
      const model: Model = replayModel([{ text: "All is well." }]);
      const process = embed({ agents: [reporter], model, table, blobs, clock, ids, ...options });
      return { ...process, dead: () => table.dead, writes: () => table.writes };
    },
  };
}

export async function define(process: Embedded, task: object): Promise<void> {
  const input = taskInput.parse({ agent: "reporter", prompt: "Write the report.", ...task });
  await putTask(process.deps, { tenant: "acme", user: "ann" }, input);
}

/** Newest first. */
export async function runsOf(process: Embedded, name: string): Promise<RunView[]> {
  return (await listRuns(process.deps, { tenant: "acme", name }, { limit: 200 })).items;
}

/** How each slot stands, oldest first: "2026-11-30T06:00 done". */
export async function accounts(process: Embedded, name: string): Promise<string[]> {
  const runs = (await runsOf(process, name)).toReversed();
  return runs.map(({ at, status, reason }) => `${at.slice(0, 16)} ${status}${reason ? `: ${reason}` : ""}`);
}

/** Turns that were started for the task, whatever its records say. */
export async function turnsOf(process: Embedded, name: string): Promise<string[]> {
  const { rows } = await process.deps.store.statuses.recent("acme", { limit: 1000 });
  const mine = rows.filter((row) => row.key.includes(`:task:${name}:`));
  const heads = await Promise.all(mine.map((row) => process.deps.store.log.head("acme", row.sessionId)));
  return heads.flatMap((head) => Array.from({ length: head?.state.turns ?? 0 }, () => head?.state.key ?? ""));
}
