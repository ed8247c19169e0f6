// The runtime as a user starts it, for rows that look at it from outside.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { DevInfo } from "../lib/local/supervisor.ts";

export type DevRuntime = {
  /** From the command to the line that says it is ready. */
  readyMs: number;
  info(): DevInfo;
  stop(): Promise<void>;
};

const root = resolve(import.meta.dirname, "..");

/** Runs `npm start` on the data folder. Throws with its output when it ends before it is ready. */
export async function startDevRuntime(data: string, env: NodeJS.ProcessEnv = {}): Promise<DevRuntime> {
  const start = performance.now();
  const child = spawn("npm", ["start", "--silent"], {
    cwd: root,
    env: { ...process.env, PORT: "0", BATON_DATA: data, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let output = "";
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (/^Baton is ready/m.test(output)) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    child.once("close", (code) => reject(new Error(`npm start ended with code ${code}: ${output}`)));
  });
  const info = () => JSON.parse(readFileSync(join(data, "dev.json"), "utf8")) as DevInfo;
  const { supervisorPid } = info();
  return {
    readyMs: performance.now() - start,
    info,
    async stop() {
      process.kill(supervisorPid, "SIGTERM");
      await ended;
    },
  };
}
