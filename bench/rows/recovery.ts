// The worker of a running runtime is killed with SIGKILL in the middle of a turn: how long until the log goes on.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createSqliteTable } from "../../lib/adapters/sqlite-table.ts";
import { createSystemClock } from "../../lib/adapters/system-clock.ts";
import { createDemoModelServer } from "../../lib/demo-model/server.ts";
import { createLog, type Log } from "../../lib/store/log.ts";
import type { Row } from "../context.ts";
import { startDevRuntime } from "../dev-runtime.ts";
import { median } from "../statistics.ts";
import { prose, replyChars } from "../workload.ts";

const kills = 3;
/** Versions that are written before the first kill and between two. */
const stepsBetween = 10;
/** Nothing takes that long unless it is broken. */
const patienceMs = 20_000;
const tenant = "dev";

export const recovery: Row = {
  name: "recovery",
  about: "from SIGKILL of the worker to the next committed step",
  async run(context) {
    context.say("killing the worker");
    const script = Array.from({ length: 5000 }, (_, i) => ({
      text: prose(i, replyChars),
      calls: [{ name: "look_up", input: { item: i } }],
    }));
    const model = await createDemoModelServer({ script });
    const data = context.folder();
    const runtime = await startDevRuntime(data, {
      BATON_AGENT: "bench/agent.ts",
      BATON_MODEL: "anthropic",
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "bench",
    });
    const table = createSqliteTable({ file: join(data, "baton.sqlite"), now: Date.now });
    const log = createLog({ table, blobs: createMemoryBlobs(), clock: createSystemClock() });
    try {
      const sessionId = await startTurn(runtime.info());
      const took: number[] = [];
      let version = 0;
      for (let kill = 0; kill < kills; kill++) {
        version = await reach(log, sessionId, version + stepsBetween);
        process.kill(runtime.info().workerPid, "SIGKILL");
        const start = performance.now();
        // What was under way at the kill may still have been committed; then one version is the take-over, one the step.
        version = (await log.head(tenant, sessionId))?.version ?? version;
        version = await reach(log, sessionId, version + 2);
        took.push(performance.now() - start);
      }
      const note = `median of ${kills}: restart by the supervisor, take-over, model call`;
      return [{ name: "SIGKILL to next committed step", value: median(took), unit: "ms", note }];
    } finally {
      await runtime.stop();
      await table.close();
      await model.close();
    }
  },
};

async function startTurn({ url, token }: { url: string; token: string }): Promise<string> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ key: "agent:bench:cli:dm:me", text: "Look all items up." }),
  });
  if (!response.ok) throw new Error(`POST /v1/messages: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { sessionId: string }).sessionId;
}

/** Waits until the session has that version; answers the one it has then. */
async function reach(log: Log, sessionId: string, version: number): Promise<number> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    const head = await log.head(tenant, sessionId);
    if (head && head.version >= version) return head.version;
    if (head && !head.state.turn && head.state.lastTurn) {
      throw new Error(`the turn ended as ${JSON.stringify(head.state.lastTurn)} before version ${version}`);
    }
    await sleep(2);
  }
  throw new Error(`session ${sessionId} did not reach version ${version} in ${patienceMs / 1000} s`);
}
