// Which runtime a command talks to: --url and --token, else BATON_URL and BATON_TOKEN, else the embedded one, as it
// has written itself down in <BATON_DATA>/dev.json.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NoRuntime, WrongUse } from "./cli-errors.ts";

export type Connection = {
  url: string;
  token: string;
  /** An embedded runtime whose supervisor lives: when nobody answers, it is starting again. */
  local: boolean;
};

/** Asked before every request, since an embedded runtime that was started again may have another port. */
export type Connect = () => Connection;

export type ConnectionOptions = { url?: string; token?: string; env: NodeJS.ProcessEnv };

export function createConnect(options: ConnectionOptions): Connect {
  const url = options.url || options.env.BATON_URL || undefined;
  const token = options.token || options.env.BATON_TOKEN || undefined;
  if (url !== undefined && !URL.canParse(url)) throw new WrongUse(`not a URL: ${url}`);
  const file = join(options.env.BATON_DATA || ".baton", "dev.json");
  return () => {
    const base = url?.replace(/\/+$/, "");
    if (base !== undefined && token !== undefined) return { url: base, token, local: false };
    const dev = readDevFile(file);
    if (base !== undefined && base !== dev?.url) {
      throw new WrongUse(`a token is needed for ${base}: give --token or BATON_TOKEN`);
    }
    if (!dev || !isAlive(dev.supervisorPid)) throw new NoRuntime();
    return { url: dev.url, token: token ?? dev.token, local: true };
  };
}

type DevFile = { url: string; token: string; supervisorPid: number };

function readDevFile(file: string): DevFile | null {
  try {
    const { url, token, supervisorPid } = JSON.parse(readFileSync(file, "utf8")) as Partial<DevFile>;
    if (typeof url !== "string" || typeof token !== "string" || typeof supervisorPid !== "number") return null;
    return { url, token, supervisorPid };
  } catch {
    return null;
  }
}

/** The file of a runtime that was killed is still there. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
