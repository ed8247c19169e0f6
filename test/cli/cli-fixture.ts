// The CLI as people run it: bin/baton.ts in a process of its own, against the real API of an embedded runtime on a
// port of this process.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { createRandomIds } from "../../lib/adapters/random-ids.ts";
import { createSystemClock } from "../../lib/adapters/system-clock.ts";
import { createApi } from "../../lib/api/create-api.ts";
import { defineAgent } from "../../lib/core/define-agent.ts";
import { defineTool } from "../../lib/core/define-tool.ts";
import { type Embedded, embed } from "../../lib/testing/embed.ts";
import { type ScriptedModel, scriptedModel } from "../../lib/testing/scripted-model.ts";
import { authenticate } from "../api/api-fixture.ts";
import { type Listening, listen } from "../api/event-source.ts";

const baton = join(import.meta.dirname, "../../bin/baton.ts");

export type CliRun = { code: number | null; stdout: string; stderr: string };

export type CliFixture = {
  runtime: Embedded;
  model: ScriptedModel;
  server: Listening;
  /** Holds the tool `wait_for` until the test lets it go. */
  gate: { entered: Promise<void>; open: () => void };
  data: string;
  env: NodeJS.ProcessEnv;
  baton(args: string[], options?: { input?: string; env?: NodeJS.ProcessEnv }): Promise<CliRun>;
  start(args: string[], options?: { env?: NodeJS.ProcessEnv }): CliProcess;
  /** The API on another port, as after a restart; dev.json says so. */
  restart(): Promise<void>;
  close(): Promise<void>;
};

export type CliProcess = {
  child: ChildProcess;
  /** Resolves when stdout and stderr together match. */
  seen(pattern: RegExp): Promise<void>;
  done: Promise<CliRun>;
};

export async function cliFixture(): Promise<CliFixture> {
  const model = scriptedModel([]);
  const entered = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const lookUp = defineTool({
    name: "look_up",
    description: "Looks something up.",
    input: z.object({ id: z.string() }),
    effect: "read",
    run: ({ id }) => ({ id, found: true }),
  });
  const waitFor = defineTool({
    name: "wait_for",
    description: "Waits.",
    input: z.object({}),
    effect: "read",
    run: async () => {
      entered.resolve();
      await held.promise;
      return { ok: true };
    },
  });
  const agent = defineAgent({ name: "helper", instructions: "Help.", model: { id: "m1" }, tools: [lookUp, waitFor] });
  const runtime = embed({ agents: [agent], model, clock: createSystemClock(), ids: createRandomIds() });
  const api = createApi({ deps: runtime.deps, authenticate, info: { version: "0", model: "scripted" } });
  const data = mkdtempSync(join(tmpdir(), "baton-cli-"));
  const fixture = {
    runtime,
    model,
    server: await listen(api),
    gate: { entered: entered.promise, open: () => held.resolve() },
    data,
    env: { ...process.env, BATON_DATA: data, BATON_URL: "", BATON_TOKEN: "", NO_COLOR: "1", FORCE_COLOR: undefined },
    start(args: string[], options: { env?: NodeJS.ProcessEnv } = {}) {
      return run(args, { ...fixture.env, ...options.env });
    },
    baton(args: string[], options: { input?: string; env?: NodeJS.ProcessEnv } = {}) {
      const started = run(args, { ...fixture.env, ...options.env });
      started.child.stdin?.end(options.input ?? "");
      return started.done;
    },
    async restart() {
      await fixture.server.close();
      fixture.server = await listen(api);
      announce();
    },
    async close() {
      held.resolve();
      await fixture.server.close();
      await runtime.stop(0);
      rmSync(data, { recursive: true, force: true });
    },
  };
  const announce = () => {
    const info = { url: fixture.server.url, token: "acme/ann", supervisorPid: process.pid, workerPid: process.pid };
    writeFileSync(join(data, "dev.json"), JSON.stringify(info));
  };
  announce();
  return fixture;
}

function run(args: string[], env: NodeJS.ProcessEnv): CliProcess {
  const child = spawn(process.execPath, [baton, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
  const out = { stdout: "", stderr: "" };
  let heard = () => {};
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      out[name] += text;
      heard();
    });
  }
  child.stdin.on("error", () => {});
  let ended = false;
  const done = new Promise<CliRun>((resolve) => {
    child.on("close", (code) => {
      ended = true;
      heard();
      resolve({ code, ...out });
    });
  });
  return {
    child,
    done,
    async seen(pattern) {
      while (!pattern.test(out.stdout + out.stderr)) {
        if (ended) throw new Error(`ended without ${pattern}: ${JSON.stringify(out)}`);
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
    },
  };
}
