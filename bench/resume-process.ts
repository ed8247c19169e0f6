// A fresh process after a crash: opens the store, sweeps as the runtime does at boot, and lets the turn end.
import { createJsonLog } from "../lib/adapters/json-log.ts";
import { buildRuntime, openStorage } from "../lib/local/build-runtime.ts";
import { sweepDue } from "../lib/sessions/sweep.ts";
import { benchAgent, benchModel, tenant } from "./workload.ts";

export type ResumeJob = { data: string; sessionId: string /** The turn ends after this many. */; rounds: number };
/** Epoch milliseconds. */
export type ResumeReport = { loadedAt: number; committedAt: number };

const now = () => performance.timeOrigin + performance.now();
const report: ResumeReport = { loadedAt: now(), committedAt: 0 };
const job = JSON.parse(process.argv[2] ?? "{}") as ResumeJob;
const storage = await openStorage({ store: "sqlite", data: job.data }, Date.now);
const { deps, interpreter } = buildRuntime({
  agents: new Map([["bench", benchAgent()]]),
  model: benchModel({ rounds: job.rounds }),
  ...storage,
  log: createJsonLog({ write: (line) => process.stderr.write(line), level: "warn" }),
});
const before = await deps.store.log.head(tenant, job.sessionId);
deps.live.subscribe(tenant, job.sessionId, (message) => {
  // The first version is the take-over, the second the first step.
  if (message.kind === "version" && message.version === (before?.version ?? 0) + 2) report.committedAt = now();
});
await sweepDue(deps, { before: Number.MAX_SAFE_INTEGER, cause: "crash", slot: "bench" });
await interpreter.idle();
const after = await deps.store.log.head(tenant, job.sessionId);
if (after?.state.turn !== null || after.state.lastTurn?.status !== "completed" || report.committedAt === 0) {
  throw new Error(`the turn did not go on: ${JSON.stringify(after?.state)}`);
}
await storage.table.close();
process.stdout.write(`${JSON.stringify(report)}\n`);
