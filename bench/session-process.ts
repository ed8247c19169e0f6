// A process of its own that runs sessions of the workload on a SQLite file and says how long each round took. Its
// memory is therefore that of the sessions alone. With `die` it kills itself in the last session after its last round.
import { writeSync } from "node:fs";
import { createJsonLog } from "../lib/adapters/json-log.ts";
import { buildRuntime, openStorage } from "../lib/local/build-runtime.ts";
import { measureFloor } from "./floor.ts";
import { benchAgent, benchModel, startSession } from "./workload.ts";

export type SessionJob = {
  data: string;
  rounds: number;
  /** Sessions at once. */
  sessions: number;
  /** Rounds run before anything is measured. */
  warmUp: number;
  floorRounds: number;
  die: boolean;
};

export type SessionReport = {
  sessionIds: string[];
  /** Milliseconds of each round, from one question to the model to the next, of each session in order of rounds. */
  roundMs: number[][];
  /** From the first message to the last round of all sessions, less the floor. */
  totalMs: number;
  /** Processor time of the process in that time. */
  cpuMs: number;
  /** Milliseconds of each round of the floor, taken in between. */
  floorMs: number[];
  /** Highest resident memory of the process, in bytes. */
  peakBytes: number;
};

/** The floor is taken in this many pieces over the run, so that both meet the same disk. */
const floorPieces = 20;

const job = JSON.parse(process.argv[2] ?? "{}") as SessionJob;

const log = createJsonLog({ write: (line) => process.stderr.write(line), level: "warn" });
const agents = new Map([["bench", benchAgent()]]);
const storage = await openStorage({ store: "sqlite", data: job.data }, Date.now);

if (job.warmUp > 0) {
  const warm = buildRuntime({ agents, model: benchModel({ rounds: job.warmUp }), ...storage, log });
  await startSession(warm.deps, 0);
  await warm.interpreter.idle();
}

const roundMs = Array.from({ length: job.sessions }, (): number[] => []);
const askedAt = Array.from({ length: job.sessions }, () => Number.NaN);
const sessionIds: string[] = [];
const floor = { ms: measureFloor(job.data, 5).slice(5), spentMs: 0, cpuMs: 0 };
const floorEvery = Math.max(1, Math.floor(job.rounds / floorPieces));

const runtime = buildRuntime({ agents, model: benchModel({ rounds: job.rounds, onAsked }), ...storage, log });
const [startedAt, startedCpu] = [performance.now(), cpuMs()];
await Promise.all(
  roundMs.map(async (_, i) => {
    sessionIds[i] = (await startSession(runtime.deps, i + 1)).sessionId;
  }),
);
await runtime.interpreter.idle();
report();
await storage.table.close();

function onAsked(session: string, round: number): void {
  const i = Number(session) - 1;
  if (round > 1) roundMs[i]?.push(performance.now() - (askedAt[i] ?? 0));
  if (round > job.rounds && job.die) {
    report();
    process.kill(process.pid, "SIGKILL");
  }
  if (i === 0 && round % floorEvery === 0) takeFloor();
  askedAt[i] = performance.now();
}

function takeFloor(): void {
  const [start, cpu] = [performance.now(), cpuMs()];
  floor.ms.push(...measureFloor(job.data, Math.ceil(job.floorRounds / floorPieces)));
  floor.spentMs += performance.now() - start;
  floor.cpuMs += cpuMs() - cpu;
}

/** Throws when a session ended early: its rounds would count for less than they are. */
function report(): void {
  const short = roundMs.find(({ length }) => length !== job.rounds);
  if (short) throw new Error(`a session ended after ${short.length} of ${job.rounds} rounds`);
  const text: SessionReport = {
    sessionIds,
    roundMs,
    totalMs: performance.now() - startedAt - floor.spentMs,
    cpuMs: cpuMs() - startedCpu - floor.cpuMs,
    floorMs: floor.ms,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  };
  writeSync(1, `${JSON.stringify(text)}\n`);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
