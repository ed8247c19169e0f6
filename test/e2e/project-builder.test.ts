// The example over the wire, without a key: from one sentence to a site, in a real folder under git, by the demo model.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import agent from "../../examples/project-builder/agent.ts";
import { checks } from "../../examples/project-builder/run-check.ts";
import { createAnthropicModel } from "../../lib/adapters/anthropic.ts";
import { type RuntimeProcess, startRuntime, until } from "../../lib/cli/demo/runtime-process.ts";
import { createDemoModelServer, type DemoModelServer } from "../../lib/demo-model/server.ts";
import { rollbackSession } from "../../lib/sessions/time-travel/rollback-session.ts";
import { type Embedded, type EmbedOptions, embed } from "../../lib/testing/embed.ts";
import { Crash, createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { eventsOf, ofType, turnsOf } from "../support/project-agent.ts";

const order = ["page", "style", "data", "list", "links"];
const undisturbed = ["initializer: completed", ...order.map((id) => `worker ${id} 1: completed`)];

/** Every check as a program of its own, over what was left behind. */
function checkAll(folder: string): void {
  for (const name of Object.keys(checks)) {
    const script = join(import.meta.dirname, "../../examples/project-builder/checks", `${name}.ts`);
    execFileSync(process.execPath, [script, folder], { stdio: "pipe" });
  }
}

/** Feature and turn of each commit, oldest first, by git itself. */
function commitsOf(folder: string): string[] {
  const format = "%(trailers:key=Baton-Feature,valueonly,separator=) %(trailers:key=Baton-Turn,valueonly,separator=)";
  const text = execFileSync("git", ["-C", folder, "log", "--reverse", `--format=${format}`], {
    encoding: "utf8",
    stdio: "pipe",
  });
  return text.trim().split("\n");
}

describe("project-builder, played by the demo model", () => {
  let server: DemoModelServer;
  let folder: string;
  const running: Embedded[] = [];
  beforeAll(async () => {
    server = await createDemoModelServer();
  });
  afterAll(() => server.close());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "baton-project-"));
    vi.stubEnv("PROJECT_DIR", folder);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    for (const embedded of running.splice(0)) await embedded.stop(0);
    rmSync(folder, { recursive: true, force: true });
  });

  function make(options: Partial<EmbedOptions> = {}): Embedded {
    const model = createAnthropicModel({ apiKey: "demo", baseURL: server.url });
    return embed({ agents: [agent], model, ...options });
  }

  function start(options: Partial<EmbedOptions> = {}): Embedded {
    const embedded = make(options);
    running.push(embedded);
    return embedded;
  }

  it("builds the site by itself from one sentence: five features, each proven, each one commit", async () => {
    const embedded = start();
    const { sessionId } = await embedded.send("Build a small site about sourdough & rye.");
    await embedded.idle();
    const events = await eventsOf(embedded, sessionId);
    expect(turnsOf(events)).toEqual(undisturbed);
    expect(ofType(events, "turn.finished").at(-1)?.answer).toContain("All 5 features pass.");
    checkAll(folder);
    expect(commitsOf(folder)).toEqual(["plan 1", ...order.map((id, i) => `${id} ${i + 2}`)]);
    expect(readdirSync(folder).sort()).toEqual(
      [".git", "data.html", "data.json", "index.html", "init.sh", "progress.md", "style.css"].sort(),
    );
    expect(readFileSync(join(folder, "progress.md"), "utf8")).not.toContain("- [ ]");
    expect(readFileSync(join(folder, "index.html"), "utf8")).toContain("<h1>sourdough &amp; rye</h1>");
    expect(execFileSync("git", ["-C", folder, "status", "--porcelain"], { encoding: "utf8" })).toBe("");
  });

  it("goes on through hand-overs, and after a process that died in the middle (G1, G2)", async () => {
    const probe = start({ roundsPerSegment: 3 });
    const table = createFaultyTable(probe.table, [{ fault: "death after", on: 60 }]);
    const first = make({ table, blobs: probe.blobs, clock: probe.clock, roundsPerSegment: 3 });
    const { sessionId } = await first.send("Build a small site about tea.");
    await first.idle().catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
    });
    await first.stop(0).catch(() => {});
    expect(table.dead).toBe(true);
    const half = turnsOf(await eventsOf(probe, sessionId));
    expect(half.length).toBeGreaterThan(1);
    expect(half.length).toBeLessThan(undisturbed.length);
    await probe.boot();
    await probe.idle();
    const events = await eventsOf(probe, sessionId);
    expect(turnsOf(events)).toEqual(undisturbed);
    expect(ofType(events, "turn.continued").length).toBeGreaterThan(5);
    checkAll(folder);
    expect(commitsOf(folder).map((line) => line.split(" ")[0])).toEqual(["plan", ...order]);
  });

  it("leads the folder back together with the session, and builds on from there", async () => {
    const embedded = start();
    const { sessionId } = await embedded.send("Build a small site about tea.");
    await embedded.idle();
    const log = await embedded.deps.store.log.events("acme", sessionId, 0);
    const third = log.find(({ event }) => event.type === "turn.started" && event.project?.feature === "data");
    const at = { tenant: "acme", sessionId, user: "ann" };
    await rollbackSession(embedded.deps, at, { version: (third?.version ?? 0) - 1 });
    await embedded.send("Please restore the workspace to style.");
    await embedded.idle();
    const events = await eventsOf(embedded, sessionId);
    expect(turnsOf(events).slice(6)).toEqual([
      "talk: completed",
      ...["data", "list", "links"].map((id) => `worker ${id} 1: completed`),
    ]);
    expect(commitsOf(folder)).toEqual(["plan 1", "page 2", "style 3", "data 8", "list 9", "links 10"]);
    checkAll(folder);
    const kept = execFileSync("git", ["-C", folder, "tag", "--list"], { encoding: "utf8" }).trim();
    expect(execFileSync("git", ["-C", folder, "log", "-1", "--format=%s", kept], { encoding: "utf8" })).toContain(
      "links:",
    );
  });

  it("is blocked, and says so, when a feature cannot be built", async () => {
    // A folder in the place of the page: it can never be written.
    mkdirSync(join(folder, "data.html"));
    writeFileSync(join(folder, "data.html", "x"), "");
    const embedded = start();
    const { sessionId } = await embedded.send("Build a small site about tea.");
    await embedded.idle();
    const events = await eventsOf(embedded, sessionId);
    expect(turnsOf(events).slice(4)).toEqual([1, 2, 3].map((n) => `worker list ${n}: not_verified`));
    expect(ofType(events, "turn.finished").at(-1)?.answer).toContain(
      "3 of 5 features pass. Feature list is not verified. Blocked: no success in 3 attempts",
    );
  });
});

describe("npm start with project-builder under SIGKILL", () => {
  let runtime: RuntimeProcess | undefined;
  const data = mkdtempSync(join(tmpdir(), "baton-project-kill-"));
  afterEach(async () => {
    await runtime?.stop();
    rmSync(data, { recursive: true, force: true });
  });

  it("finishes the site over three kills of its worker, each feature one commit (G1, G2)", {
    timeout: 120_000,
  }, async () => {
    const folder = join(data, "site");
    const env = {
      BATON_AGENT: "examples/project-builder/agent.ts",
      BATON_MODEL: "demo",
      BATON_DEMO_LATENCY_MS: "5",
      PROJECT_DIR: folder,
    };
    const running = await startRuntime({ data, env });
    runtime = running;
    const body = { key: "agent:project:e2e", text: "Build a small site about tea." };
    const { sessionId } = await running.call<{ sessionId: string }>("/v1/messages", { body, key: "once" });
    const commits = () => commitsOf(folder).length;
    for (const count of [1, 3, 5]) {
      await until(() => lookFor(commits) >= count, 60_000, `${count} commits`);
      const before = running.info().workerPid;
      running.killWorker();
      await until(() => running.info().workerPid !== before, 60_000, "the next worker");
    }
    type Tree = { handoff: { features: { passes: boolean }[] } | null };
    const passing = async () => {
      const { handoff } = await running.call<Tree>(`/v1/sessions/${sessionId}`);
      return handoff?.features.filter(({ passes }) => passes).length === order.length;
    };
    await until(passing, 60_000, "all features to pass");
    checkAll(folder);
    expect(commitsOf(folder).map((line) => line.split(" ")[0])).toEqual(["plan", ...order]);
  });
});

/** 0 while there is no repository yet. */
function lookFor(count: () => number): number {
  try {
    return count();
  } catch {
    return 0;
  }
}
