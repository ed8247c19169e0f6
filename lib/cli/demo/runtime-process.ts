// A whole runtime as a child process, as `npm start` makes it: started, killed, started again on the same data.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DevInfo } from "../../local/supervisor.ts";

export type RuntimeProcess = {
  info(): DevInfo;
  /** SIGKILL to the worker; answers its pid. The supervisor starts another. */
  killWorker(): number;
  /** SIGKILL to supervisor and worker. */
  killAll(): Promise<void>;
  stop(): Promise<void>;
  /** A call of the API; retried while the runtime restarts. */
  call<T>(path: string, init?: { method?: string; body?: unknown; key?: string }): Promise<T>;
};

const baton = join(import.meta.dirname, "../../../bin/baton.ts");

export async function startRuntime(options: { data: string; env?: Record<string, string> }): Promise<RuntimeProcess> {
  const child = spawn(process.execPath, [baton, "dev"], {
    env: { ...process.env, PORT: "0", BATON_DATA: options.data, ...options.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors = `${errors}${chunk}`.slice(-4000);
  });
  const read = () => JSON.parse(readFileSync(join(options.data, "dev.json"), "utf8")) as DevInfo;
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(`the runtime ended with code ${child.exitCode}: ${errors}`);
      return read().supervisorPid === child.pid;
    },
    20_000,
    "the runtime to be ready",
  );
  return {
    info: read,
    killWorker() {
      const pid = read().workerPid;
      process.kill(pid, "SIGKILL");
      return pid;
    },
    async killAll() {
      const { workerPid } = read();
      const gone = exited(child);
      child.kill("SIGKILL");
      try {
        process.kill(workerPid, "SIGKILL");
      } catch {
        // It was between two workers.
      }
      await gone;
    },
    async stop() {
      const gone = exited(child);
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      await gone;
    },
    call: (path, init) => call(read, path, init),
  };
}

async function call<T>(
  read: () => DevInfo,
  path: string,
  init: { method?: string; body?: unknown; key?: string } = {},
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    const { url, token } = read();
    try {
      const response = await fetch(`${url}${path}`, {
        method: init.method ?? (init.body === undefined ? "GET" : "POST"),
        headers: {
          authorization: `Bearer ${token}`,
          ...(init.body === undefined ? {} : { "content-type": "application/json" }),
          ...(init.key ? { "idempotency-key": init.key } : {}),
        },
        ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
      });
      const body = (await response.json()) as T & { detail?: string };
      if (response.ok) return body;
      if (response.status !== 503) throw new Refused(`${path}: ${response.status} ${body.detail ?? ""}`);
    } catch (error) {
      if (error instanceof Refused || attempt > 100) throw error;
    }
    await sleep(100);
  }
}

class Refused extends Error {}

/** Looks until `check` answers true; what it throws (a file that is not there yet) counts as false, once time is up as the reason. */
export async function until(check: () => boolean | Promise<boolean>, withinMs: number, what: string): Promise<void> {
  const end = Date.now() + withinMs;
  for (;;) {
    let reason: unknown;
    try {
      if (await check()) return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" && !(error instanceof SyntaxError)) throw error;
      reason = error;
    }
    if (Date.now() > end) throw new Error(`waited ${withinMs / 1000} s for ${what}`, { cause: reason });
    await sleep(25);
  }
}

function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}
