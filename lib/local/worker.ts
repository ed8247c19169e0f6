// The worker process of the embedded runtime: API, state machine, store, sweeper. It may die at any instant;
// the next one goes on from the log. Started by the supervisor, told and asked over IPC.
import { createRequire } from "node:module";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { createFilesMailer } from "../adapters/files-mailer.ts";
import { createHmacSigner } from "../adapters/hmac-signer.ts";
import { createJsonLog } from "../adapters/json-log.ts";
import { createSmtpMailer } from "../adapters/smtp-mailer.ts";
import { createApi } from "../api/create-api.ts";
import { createJwtAuthenticator } from "../api/dev-token.ts";
import { BatonError } from "../core/errors.ts";
import { sweepMemory } from "../memory/sweep-memory.ts";
import { recoverAtBoot } from "../recovery/recover-at-boot.ts";
import { sweepAll } from "../recovery/sweep-all.ts";
import { readApprovalSecret } from "./approval-secret.ts";
import { buildRuntime, openStorage } from "./build-runtime.ts";
import { devRoutes } from "./dev-routes.ts";
import { readDevSecret } from "./dev-secret.ts";
import { loadAgents } from "./load-agents.ts";
import { loadPrices } from "./load-prices.ts";
import { openModel } from "./open-model.ts";
import { readSettings } from "./settings.ts";

/** What the worker tells its supervisor. */
export type WorkerMessage =
  | { kind: "ready"; port: number; model: string; resumed: number }
  /** It cannot start, and trying again changes nothing. */
  | { kind: "unusable"; message: string };

/** What the supervisor tells the worker: where the agent's companion services are. */
export type SupervisorMessage = { kind: "services"; env: Record<string, string> };

const sweepEveryMs = 5000;
const learnEveryMs = 30_000;

async function main(): Promise<void> {
  const settings = readSettings(process.env, process.cwd());
  const log = createJsonLog({
    write: (line) => process.stderr.write(line),
    level: process.env.BATON_LOG === "info" ? "info" : "warn",
  });
  const secret = readDevSecret(required("BATON_SECRET_FILE"));
  const [agents, model, storage, embeddings] = await Promise.all([
    loadAgents(settings.agent, process.cwd()),
    openModel(settings),
    openStorage(settings, Date.now),
    settings.embeddings === "off"
      ? undefined
      : import("./open-embeddings.ts").then(({ openEmbeddings }) => openEmbeddings(settings)),
    companionServices(),
  ]);
  let url = "";
  const runtime = buildRuntime({
    agents,
    model: model.model,
    ...(embeddings ? { embeddings } : {}),
    ...storage,
    log,
    mailer: settings.smtpUrl
      ? createSmtpMailer({ url: settings.smtpUrl, from: settings.mailFrom, log })
      : createFilesMailer({ dir: join(settings.data, "mail"), from: settings.mailFrom }),
    signer: createHmacSigner({ key: readApprovalSecret(settings.data) }),
    ...(settings.prices ? { prices: loadPrices(settings.prices, process.cwd()) } : {}),
    publicUrl: () => settings.publicUrl ?? url,
    ...(process.env.BATON_WEBHOOK_SECRET ? { webhookSecret: process.env.BATON_WEBHOOK_SECRET } : {}),
  });
  const { deps } = runtime;
  const api = createApi({
    deps,
    authenticate: createJwtAuthenticator({ secret }),
    // One process: who is looking at the console sees which.
    routes: [devRoutes({ mailDir: join(settings.data, "mail"), kill: () => process.kill(process.pid, "SIGKILL") })],
    info: {
      workerPid: process.pid,
      model: model.name,
      version: createRequire(import.meta.url)("../../package.json").version,
    },
  });
  const server = serve({ fetch: api.fetch, hostname: "127.0.0.1", port: settings.port, overrideGlobalObjects: false });
  const port = await new Promise<number>((resolve, reject) => {
    server.once("error", reject);
    server.once("listening", () => resolve((server.address() as { port: number }).port));
  });
  url = `http://127.0.0.1:${port}`;
  // Whatever has an open turn or a waiting message goes on: no other process can be running it.
  const boot = await recoverAtBoot(deps, { slot: `boot-${process.pid}` });
  const { resumed = 0, started = 0, held = 0 } = boot.counts;
  tell({ kind: "ready", port, model: model.name, resumed: resumed + started + held });
  void boot.goOn();
  let learning = false;
  // Apart from the sweeper: nothing that people wait for waits for the model of long-term memory.
  const learner = setInterval(() => {
    if (learning) return;
    learning = true;
    sweepMemory(deps, { before: Date.now() })
      .catch((error: unknown) => log.error("memory failed", { error: error instanceof Error ? error.name : "Error" }))
      .finally(() => {
        learning = false;
      });
  }, learnEveryMs);
  let sweeping = false;
  const sweeper = setInterval(() => {
    if (sweeping) return;
    sweeping = true;
    sweepAll(deps, { before: Date.now(), cause: "stuck", slot: `${Date.now()}`, hold: boot.hold })
      .catch((error: unknown) => log.error("sweep failed", { error: error instanceof Error ? error.name : "Error" }))
      .finally(() => {
        sweeping = false;
      });
  }, sweepEveryMs);

  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    clearInterval(sweeper);
    clearInterval(learner);
    server.close();
    if ("closeIdleConnections" in server) server.closeIdleConnections();
    await runtime.stop();
    await model.close();
    await storage.table.close();
    process.exit(0);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // The supervisor is gone: nobody would restart or stop this process.
  process.on("disconnect", stop);
}

/** Waits until the supervisor has started them: a tool that runs before would not find its service. */
async function companionServices(): Promise<void> {
  if (!process.send) return;
  const { env } = await new Promise<SupervisorMessage>((resolve) => process.once("message", resolve));
  Object.assign(process.env, env);
}

function tell(message: WorkerMessage): void {
  if (process.send) process.send(message);
  else process.stdout.write(`${JSON.stringify(message)}\n`);
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; start the runtime with: npm start`);
  return value;
}

main().catch((error: unknown) => {
  const known = error instanceof BatonError || (error as NodeJS.ErrnoException).code === "EADDRINUSE";
  const message = error instanceof Error ? error.message : String(error);
  if (known) tell({ kind: "unusable", message });
  else process.stderr.write(`${error instanceof Error ? error.stack : message}\n`);
  process.exitCode = 1;
  setImmediate(() => process.exit(1));
});
