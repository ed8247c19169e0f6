// A process that serves many sessions at once with short turns.
import { createJsonLog } from "../lib/adapters/json-log.ts";
import { buildRuntime, openStorage } from "../lib/local/build-runtime.ts";
import { waitForMessage } from "../lib/sessions/wait.ts";
import { benchAgent, benchModel, startSession, tenant } from "./workload.ts";

export type TurnsJob = { data: string; sessions: number /** Of each session. */; turns: number };
export type TurnsReport = { totalMs: number /** Of each message. */; acceptMs: number[] };

const patienceMs = 120_000;

const job = JSON.parse(process.argv[2] ?? "{}") as TurnsJob;
const storage = await openStorage({ store: "sqlite", data: job.data }, Date.now);
const { deps, interpreter } = buildRuntime({
  agents: new Map([["bench", benchAgent()]]),
  model: benchModel({ rounds: Number.POSITIVE_INFINITY, callsPerTurn: 1 }),
  ...storage,
  log: createJsonLog({ write: (line) => process.stderr.write(line), level: "warn" }),
});

const acceptMs: number[] = [];
const start = performance.now();
await Promise.all(Array.from({ length: job.sessions }, (_, session) => talk(session)));
const totalMs = performance.now() - start;
await interpreter.idle();
await storage.table.close();
process.stdout.write(`${JSON.stringify({ totalMs, acceptMs } satisfies TurnsReport)}\n`);

async function talk(session: number): Promise<void> {
  for (let turn = 0; turn < job.turns; turn++) {
    const sent = performance.now();
    const accepted = await startSession(deps, session);
    acceptMs.push(performance.now() - sent);
    const settled = await waitForMessage(deps, tenant, accepted, patienceMs);
    if (settled === "asking" || settled?.status !== "completed") {
      throw new Error(`turn ${accepted.turn} of session ${session} did not complete`);
    }
  }
}
