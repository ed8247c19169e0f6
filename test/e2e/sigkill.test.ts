// The real thing: `baton dev` as a process tree on a real folder, its worker killed with SIGKILL at random moments
// while sessions run. Afterwards every session is complete and the registry holds each report once.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { toolRuns } from "../../lib/cli/demo/read-run.ts";
import { type RuntimeProcess, startRuntime, until } from "../../lib/cli/demo/runtime-process.ts";

const kills = 20;
/** About as long as one investigation takes with these settings. */
const spreadMs = 1000;
const waitMs = 120_000;

describe("npm start under SIGKILL", () => {
  let runtime: RuntimeProcess | undefined;
  const data = mkdtempSync(join(tmpdir(), "baton-sigkill-"));
  afterEach(async () => {
    await runtime?.stop();
    rmSync(data, { recursive: true, force: true });
  });

  it(`finishes ${kills} investigations over ${kills} kills at random moments, each report filed once (G1, G2, G4, G7)`, {
    timeout: 300_000,
  }, async () => {
    const traceFile = join(data, "trace.jsonl");
    const env = { AML_APPROVAL: "off", AML_TRACE_FILE: traceFile, AML_STEP_DELAY_MS: "30", BATON_DEMO_LATENCY_MS: "2" };
    const running = await startRuntime({ data, env });
    runtime = running;
    const ids: string[] = [];
    const moments: number[] = [];
    // One kill per session: more than three without progress would suspend it, and rightly so.
    for (let kill = 0; kill < kills; kill++) {
      const body = { key: `agent:aml:e2e:dm:${kill}`, text: "Investigate customer C-1042" };
      const accepted = await running.call<{ sessionId: string }>("/v1/messages", { body, key: `message-${kill}` });
      ids.push(accepted.sessionId);
      const moment = Math.floor(Math.random() * spreadMs);
      moments.push(moment);
      await sleep(moment);
      const before = running.info().workerPid;
      running.killWorker();
      await until(() => running.info().workerPid !== before, waitMs, "the next worker");
      const settled = async () => !["running", "created"].includes(await statusOf(running, accepted.sessionId));
      await until(settled, waitMs, `session ${kill} after a kill at ${moment} ms`);
    }
    const note = `moments ${moments.join(",")}`;
    for (const id of ids) {
      const { session, turns } = await running.call<Tree>(`/v1/sessions/${id}`);
      const why = session.status === "completed" ? "" : JSON.stringify(turns.at(-1));
      expect({ note, why, status: session.status }).toEqual({ note, why: "", status: "completed" });
      const { items } = await running.call<{ items: { version: number }[] }>(`/v1/sessions/${id}/events?after=0`);
      expect(items.map(({ version }) => version)).toEqual(items.map((_, i) => i + 1));
    }
    const { registryUrl } = running.info();
    const answer = (await (await fetch(`${registryUrl}/reports`)).json()) as { items: { submissions: number }[] };
    expect({ note, submissions: answer.items.map(({ submissions }) => submissions) }).toEqual({
      note,
      submissions: Array(kills).fill(1),
    });
    const filed = toolRuns(traceFile).filter(({ tool, phase }) => tool === "submit_report" && phase === "end");
    expect(new Set(filed.map(({ key }) => key)).size).toBe(filed.length);
  });
});

type Tree = { session: { status: string }; turns: unknown[] };

async function statusOf(runtime: RuntimeProcess, id: string): Promise<string> {
  return (await runtime.call<Tree>(`/v1/sessions/${id}`)).session.status;
}
