// A process that opens stored sessions again and again, each time with a new store and a new connection.
import { join } from "node:path";
import { createFilesBlobs } from "../lib/adapters/files-blobs.ts";
import { createSqliteTable } from "../lib/adapters/sqlite-table.ts";
import { createSystemClock } from "../lib/adapters/system-clock.ts";
import { readContext } from "../lib/steps/think/read-context.ts";
import { createStore } from "../lib/store/index.ts";
import { benchAgent, tenant } from "./workload.ts";

export type LoadJob = { sessions: { rounds: number; data: string; sessionId: string }[]; times: number };
export type LoadReport = { rounds: number; headMs: number[]; contextMs: number[]; contextTokens: number }[];

const job = JSON.parse(process.argv[2] ?? "{}") as LoadJob;
const clock = createSystemClock();
const agent = benchAgent();
const tools = agent.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
const report: LoadReport = job.sessions.map(({ rounds }) => ({ rounds, headMs: [], contextMs: [], contextTokens: 0 }));

// Lengths take turns, so that what disturbs the machine disturbs all of them. The first third warms the code up.
for (let time = -Math.ceil(job.times / 3); time < job.times; time++) {
  for (const [i, { data, sessionId }] of job.sessions.entries()) {
    const table = createSqliteTable({ file: join(data, "baton.sqlite"), now: Date.now });
    const store = createStore({ table, blobs: createFilesBlobs({ dir: join(data, "blobs") }), clock });
    const start = performance.now();
    const head = await store.log.head(tenant, sessionId);
    const found = performance.now();
    if (!head) throw new Error(`session ${sessionId} is not in ${data}`);
    const context = await readContext({ store } as Parameters<typeof readContext>[0], head, agent, tools);
    const built = performance.now();
    await table.close();
    const target = report[i];
    if (time < 0 || !target) continue;
    target.headMs.push(found - start);
    target.contextMs.push(built - found);
    target.contextTokens = context.estimatedTokens;
  }
}
process.stdout.write(`${JSON.stringify(report)}\n`);
