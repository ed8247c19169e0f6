// The processes of the soak test: runtimes over one table, each of which dies at a random call and is followed by
// another. What a death leaves is for the others to find: by the orchestrator's word, by the sweeper, or at boot.

import { buildRuntime, type Runtime } from "../../lib/local/build-runtime.ts";
import type { Blobs } from "../../lib/ports/blobs.ts";
import type { ExecutionInput } from "../../lib/ports/orchestrator.ts";
import type { Table } from "../../lib/ports/table.ts";
import { afterExecution } from "../../lib/recovery/after-execution.ts";
import { type Boot, recoverAtBoot } from "../../lib/recovery/recover-at-boot.ts";
import { sweepAll } from "../../lib/recovery/sweep-all.ts";
import { silentLog } from "../../lib/testing/embed.ts";
import type { FakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable, type TableCall } from "../../lib/testing/faulty-table.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";
import type { Random } from "./random.ts";
import { soakAgent, soakModel, type Witness } from "./soak-agent.ts";

export type Variant = {
  name: string;
  workers: 1 | 2;
  /** Each worker knows what runs in any of them, as Step Functions would; else only what runs in itself. */
  seesAll: boolean;
};

export type Worker = Runtime & {
  alive(): boolean;
  kill(): void;
  /** What the process does now and then; the first time, if it is the only one, what it does at boot. */
  sweepOnce(): Promise<void>;
  /** Executions that ran when it died. */
  left: Map<string, ExecutionInput>;
};

export type Workers = {
  /** The living ones. */
  alive(): Worker[];
  /** Starts a process in the place of a dead one; false: none is dead. */
  restart(): Promise<boolean>;
  /** From now on nothing fails any more. */
  calmDown(): void;
  deaths(): number;
};

export type WorkersOptions = {
  variant: Variant;
  seed: number;
  random: Random;
  clock: FakeClock;
  blobs: Blobs;
  /** A connection of its own for each process. */
  open: () => Table;
  witness: Witness;
};

/** Calls of the table that a process lives for. */
const [shortestLife, longestLife] = [600, 6000];
const lostShare = 0.001;
/** In fake time, for every retry: without chance in it, and in sum longer than a lease. */
const retryMs = 5000;

export async function createWorkers(options: WorkersOptions): Promise<Workers> {
  const { variant, seed, random, clock, witness } = options;
  const places: Worker[] = [];
  const started = new Set<string>();
  let [calm, processes, deaths, sweeps] = [false, 0, 0, 0];
  const alive = () => places.filter((worker) => worker.alive());

  function start(): Worker {
    const number = ++processes;
    let killed = false;
    const dies = shortestLife + random.int(longestLife - shortestLife);
    const doomed = ({ call }: TableCall) => !calm && call >= dies;
    const unlucky = () => !calm && random.chance(lostShare);
    const times = Number.MAX_SAFE_INTEGER;
    const table = createFaultyTable(options.open(), [
      { fault: "death before", on: () => killed },
      { fault: random.chance(0.5) ? "death before" : "death after", on: doomed },
      { fault: "lost answer", on: unlucky, times },
      { fault: "lost request", on: unlucky, times },
      { fault: "throttle", on: unlucky, times },
    ]);
    const living = () => !table.dead && !killed;
    const left = new Map<string, ExecutionInput>();
    const agent = soakAgent(witness, living);
    const runtime = buildRuntime({
      agents: new Map([[agent.name, agent]]),
      model: soakModel(random),
      table,
      blobs: options.blobs,
      clock,
      ids: seededIds(`${seed}/${number}`),
      // Enough for the hand-over between executions to take part.
      roundsPerSegment: 2,
      log: silentLog,
      interpreter: {
        retryOverrideMs: retryMs,
        onEvent: (event) => {
          if (!living()) return;
          if (event.kind === "started") left.set(event.execution, event.input);
          if (event.kind === "started") started.add(event.execution);
          if (event.kind === "succeeded" || event.kind === "failed") left.delete(event.execution);
        },
      },
    });
    const { deps, interpreter } = runtime;
    deps.orchestrator = {
      ...interpreter,
      start: async (name, input) =>
        variant.seesAll && started.has(name) && !interpreter.running().includes(name)
          ? "exists"
          : interpreter.start(name, input),
      isRunning: async (name) => {
        const seen = variant.seesAll ? alive() : [runtime];
        return seen.some((other) => other.interpreter.running().includes(name));
      },
    };
    let boot: Boot | undefined;
    return {
      ...runtime,
      left,
      alive: living,
      kill: () => {
        killed = true;
      },
      async sweepOnce() {
        const slot = `${seed}-${++sweeps}`;
        if (variant.workers === 1 && !boot) {
          boot = await recoverAtBoot(deps, { slot });
          void boot.goOn();
          return;
        }
        const hold = boot?.hold;
        await sweepAll(deps, { before: clock.now(), cause: "stuck", slot, ...(hold ? { hold } : {}) });
      },
    };
  }

  /** What the orchestrator tells of the executions of a dead worker; often, not always. */
  async function tellOf(dead: Worker): Promise<void> {
    for (const [execution, { tenant, sessionId }] of dead.left) {
      const other = random.chance(0.7) ? alive()[0] : undefined;
      if (!other) continue;
      const ended = { tenant, sessionId, execution, status: "FAILED" as const, eventId: execution };
      await afterExecution(other.deps, ended).catch(() => {});
    }
  }

  for (let place = 0; place < variant.workers; place++) places.push(start());
  return {
    alive,
    async restart() {
      const place = places.findIndex((worker) => !worker.alive());
      const dead = places[place];
      if (!dead) return false;
      deaths++;
      const next = start();
      places[place] = next;
      if (variant.workers === 1) await next.sweepOnce().catch(() => {});
      else await tellOf(dead);
      return true;
    },
    calmDown() {
      calm = true;
    },
    deaths: () => deaths,
  };
}
