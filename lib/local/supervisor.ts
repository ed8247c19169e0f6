// The supervisor: starts the agent's companion services and one worker, starts the worker again when it
// dies, and tells people what runs where. It touches no session; durability does not depend on it.
import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { signDevToken } from "../api/dev-token.ts";
import { SessionBusy } from "../core/errors.ts";
import { banner } from "./banner.ts";
import { devSecretFile, readDevSecret } from "./dev-secret.ts";
import { startDevServices } from "./dev-services.ts";
import { readSettings } from "./settings.ts";
import type { SupervisorMessage, WorkerMessage } from "./worker.ts";

/** The content of `<BATON_DATA>/dev.json`. */
export type DevInfo = {
  url: string;
  token: string;
  supervisorPid: number;
  workerPid: number;
  model: string;
  mailDir: string;
  registryUrl?: string;
};

const restartDelaysMs = [0, 200, 1000, 3000];

/**
 * Node lets its young generation grow until the process holds twice what it uses. Measured on 4,000 rounds: 352 MB
 * without this, 249 MB with it, at the same speed.
 */
export const workerFlags = ["--max-semi-space-size=16"];

/** Runs until SIGINT or SIGTERM; answers the exit code. */
export async function startSupervisor(
  options: { env?: NodeJS.ProcessEnv; cwd?: string; print?: (text: string) => void } = {},
): Promise<number> {
  const env = options.env ?? process.env;
  const print = options.print ?? ((text: string) => void process.stdout.write(text));
  const settings = readSettings(env, options.cwd ?? process.cwd());
  mkdirSync(settings.data, { recursive: true });
  const infoFile = join(settings.data, "dev.json");
  refuseSecond(infoFile);
  const secretFile = devSecretFile(settings.data);
  const token = await signDevToken({ secret: readDevSecret(secretFile), tenant: "dev", user: "you", now: Date.now() });
  const cwd = options.cwd ?? process.cwd();
  // The services and the worker start side by side; the worker waits for their addresses before it takes work.
  const starting = startDevServices({ agents: settings.agent, data: settings.data, cwd });

  let port = settings.port;
  let worker: ChildProcess | undefined;
  let failures = 0;
  let stopping = false;
  let announced = false;
  let broken = false;
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();

  const start = () => {
    const child = fork(join(import.meta.dirname, "worker.ts"), {
      env: { ...env, ...compileCache(), PORT: String(port), BATON_DATA: settings.data, BATON_SECRET_FILE: secretFile },
      cwd,
      execArgv: [...process.execArgv, ...workerFlags],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    worker = child;
    starting.then(
      ({ env: addresses }) => {
        if (child.connected) child.send({ kind: "services", env: addresses } satisfies SupervisorMessage);
      },
      () => child.kill("SIGKILL"),
    );
    let unusable: string | undefined;
    child.on("message", async (message: WorkerMessage) => {
      if (message.kind === "unusable") {
        unusable = message.message;
        return;
      }
      const services = await starting;
      port = message.port;
      failures = 0;
      const url = `http://127.0.0.1:${port}`;
      const info: DevInfo = {
        url,
        token,
        supervisorPid: process.pid,
        workerPid: child.pid ?? 0,
        model: message.model,
        mailDir: join(settings.data, "mail"),
        ...(services.registryUrl ? { registryUrl: services.registryUrl } : {}),
      };
      writeAtomically(infoFile, `${JSON.stringify(info, null, 2)}\n`);
      if (!announced) print(banner(info, { smtp: settings.smtpUrl !== undefined, resumed: message.resumed }));
      else
        print(
          `worker ${child.pid} is ready${message.resumed > 0 ? `; ${message.resumed} open session${message.resumed > 1 ? "s" : ""} go on` : ""}\n`,
        );
      announced = true;
    });
    child.on("exit", (code, signal) => {
      if (stopping) return end(0);
      if (broken) return end(1);
      if (unusable !== undefined || (!announced && code !== 0 && signal === null)) {
        process.stderr.write(`baton: ${unusable ?? "the worker could not start"}\n`);
        return end(1);
      }
      const delay = restartDelaysMs[Math.min(failures++, restartDelaysMs.length - 1)] ?? 0;
      print(`worker ${child.pid} ended (${signal ?? `code ${code}`}); starting another\n`);
      setTimeout(() => (stopping ? end(0) : start()), delay);
    });
  };

  const stop = () => {
    if (stopping) {
      worker?.kill("SIGKILL");
      return end(130);
    }
    stopping = true;
    if (worker && worker.exitCode === null && worker.signalCode === null) worker.kill("SIGTERM");
    else end(0);
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  starting.catch((error: unknown) => {
    broken = true;
    process.stderr.write(`baton: ${error instanceof Error ? error.message : String(error)}\n`);
  });
  start();
  const code = await ended;
  await starting.then((services) => services.stop()).catch(() => {});
  rmSync(infoFile, { force: true });
  return code;
}

/** The same cache of compiled code as this process has, if it has one. */
function compileCache(): Record<string, string> {
  const folder = getCompileCacheDir();
  return folder ? { NODE_COMPILE_CACHE: folder } : {};
}

/** Two runtimes on one folder would take each other's sessions over again and again. */
function refuseSecond(infoFile: string): void {
  let info: Partial<DevInfo>;
  try {
    info = JSON.parse(readFileSync(infoFile, "utf8"));
  } catch {
    return;
  }
  if (typeof info.supervisorPid !== "number" || info.supervisorPid === process.pid) return;
  try {
    process.kill(info.supervisorPid, 0);
  } catch {
    return;
  }
  throw new SessionBusy(
    `a runtime (process ${info.supervisorPid}) already uses this folder at ${info.url}; stop it, or set BATON_DATA to another folder`,
  );
}

function writeAtomically(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
