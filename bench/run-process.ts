// Runs one of the benchmark's processes to its end and reads the JSON line that it says last.
import { spawn } from "node:child_process";
import { join } from "node:path";

export type ProcessOptions = {
  /** Flags of node. */
  flags?: readonly string[];
  /** True: it kills itself with SIGKILL when it has spoken. @default false */
  dies?: boolean;
  env?: NodeJS.ProcessEnv;
};

/** Throws when the process ends otherwise than it should, with what it wrote to stderr. */
export async function runProcess<Report>(file: string, job: object, options: ProcessOptions = {}): Promise<Report> {
  const args = [...(options.flags ?? []), join(import.meta.dirname, file), JSON.stringify(job)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env: options.env ?? process.env });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  const end = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(signal ?? code));
  });
  if (end !== (options.dies ? "SIGKILL" : 0)) throw new Error(`${file} ended with ${end}: ${err()}`);
  return JSON.parse(out().trim().split("\n").at(-1) ?? "") as Report;
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
