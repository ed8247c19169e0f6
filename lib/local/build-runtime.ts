// The embedded composition root: chooses adapters by the settings and puts the same steps, machine and
// store together that the cloud runs.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createFilesBlobs } from "../adapters/files-blobs.ts";
import { createHmacSigner } from "../adapters/hmac-signer.ts";
import { createHttpWebhooks } from "../adapters/http-webhooks.ts";
import { createLiveBus } from "../adapters/live-bus.ts";
import { createMemoryBlobs } from "../adapters/memory-blobs.ts";
import { createMemoryTable } from "../adapters/memory-table.ts";
import { createRandomIds } from "../adapters/random-ids.ts";
import { createSqliteTable } from "../adapters/sqlite-table.ts";
import { createSystemClock } from "../adapters/system-clock.ts";
import type { Agent } from "../core/define-flow.ts";
import { MailRefused } from "../core/errors.ts";
import type { Prices } from "../core/prices.ts";
import { approvalMails } from "../mail/approval-mails.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Clock, Ids, Log } from "../ports/clock.ts";
import type { Embeddings } from "../ports/embeddings.ts";
import type { Mailer } from "../ports/mailer.ts";
import type { Model } from "../ports/model.ts";
import type { Signer } from "../ports/signer.ts";
import type { Table } from "../ports/table.ts";
import type { Webhooks } from "../ports/webhooks.ts";
import type { Deps } from "../steps/deps.ts";
import { createSteps } from "../steps/index.ts";
import { requireEmbeddings } from "../steps/require-embeddings.ts";
import { createStore } from "../store/index.ts";
import { createAfterExecutions } from "./after-executions.ts";
import { createInterpreter, type Interpreter, type InterpreterOptions } from "./interpreter.ts";
import { webhookKey } from "./webhook-key.ts";

export type RuntimeOptions = {
  agents: ReadonlyMap<string, Agent>;
  model: Model;
  /** @default none: an agent whose memory asks for them is refused */
  embeddings?: Embeddings;
  table: Table;
  blobs: Blobs;
  log: Log;
  /** @default the system's */
  clock?: Clock;
  ids?: Ids;
  interpreter?: Omit<InterpreterOptions, "handlers">;
  roundsPerSegment?: number;
  /** What model calls cost. @default the table of lib/core/price-table.ts */
  prices?: Prices;
  cacheBytes?: number;
  /** @default nobody is mailed; approvals are decided signed in */
  mailer?: Mailer;
  /** @default a random key: mailed links end with the process */
  signer?: Signer;
  /** @default over HTTP, this machine included, signed with keys that the signer derives */
  webhooks?: Webhooks;
  /** `whsec_…` for all tenants. @default one for each tenant */
  webhookSecret?: string;
  /** Base of mailed links. @default http://127.0.0.1 */
  publicUrl?: () => string;
};

export type Runtime = {
  deps: Deps;
  interpreter: Interpreter;
  /** Resolves when nothing runs and what ended executions left to do is done. */
  idle(): Promise<void>;
  /** Starts no further step, waits up to `graceMs` for those under way, then aborts them. Leaves open turns marked for resume. */
  stop(graceMs?: number): Promise<void>;
};

/** Throws `InvalidDefinition` when an agent needs what is not given. */
export function buildRuntime(options: RuntimeOptions): Runtime {
  requireEmbeddings(options);
  const clock = options.clock ?? createSystemClock();
  const live = createLiveBus();
  const stopping = new AbortController();
  const store = createStore({
    table: options.table,
    blobs: options.blobs,
    clock,
    ...(options.cacheBytes === undefined ? {} : { cacheBytes: options.cacheBytes }),
    onCommit: (head) => live.publish(head.tenant, head.sessionId, { kind: "version", version: head.version }),
  });
  const signer = options.signer ?? createHmacSigner({ key: randomBytes(32) });
  const deps: Deps = {
    store,
    agents: options.agents,
    model: options.model,
    clock,
    ids: options.ids ?? createRandomIds(),
    log: options.log,
    live,
    mailer: options.mailer ?? noMailer,
    approvalMails,
    signer,
    webhooks:
      options.webhooks ??
      createHttpWebhooks({
        keyOf: webhookKey(signer, options.webhookSecret),
        now: () => clock.now(),
        loopback: true,
      }),
    publicUrl: options.publicUrl ?? (() => "http://127.0.0.1"),
    stopping: stopping.signal,
    // Set below: the steps need the deps, and the orchestrator needs the steps.
    orchestrator: { start: fails, release: fails, isRunning: fails },
    ...(options.roundsPerSegment === undefined ? {} : { roundsPerSegment: options.roundsPerSegment }),
    ...(options.prices ? { prices: options.prices } : {}),
    ...(options.embeddings ? { embeddings: options.embeddings } : {}),
  };
  const after = createAfterExecutions(deps);
  const interpreter = createInterpreter({
    handlers: createSteps(deps),
    ...options.interpreter,
    onEvent: (event) => {
      options.interpreter?.onEvent?.(event);
      after.onEvent(event);
    },
  });
  deps.orchestrator = interpreter;
  return {
    deps,
    interpreter,
    async idle() {
      do {
        await interpreter.idle();
        await after.settled();
      } while (interpreter.running().length > 0);
    },
    stop: (graceMs = 10_000) => stopRuntime(deps, interpreter, stopping, graceMs),
  };
}

async function stopRuntime(
  deps: Deps,
  interpreter: Interpreter,
  stopping: AbortController,
  graceMs: number,
): Promise<void> {
  const owners = new Set(interpreter.running());
  const timer = new AbortController();
  const grace = deps.clock.sleep(graceMs, timer.signal).then(
    () => stopping.abort(new Error("the runtime is stopping")),
    () => {},
  );
  await interpreter.stop();
  timer.abort();
  await grace;
  await markOpenTurns(deps, owners);
}

/** Open turns of this process get the mark that says why they stand still; the next process goes on with them. */
async function markOpenTurns(deps: Deps, owners: ReadonlySet<string>): Promise<void> {
  const { log, statuses } = deps.store;
  const { rows } = await statuses.due(Number.MAX_SAFE_INTEGER, { limit: 1000 });
  for (const row of rows) {
    if (row.sk !== "STATUS") continue;
    const head = await log.head(row.tenant, row.id);
    if (!head?.state.turn || !owners.has(head.state.turn.owner)) continue;
    await log
      .append(head, { type: "session.resume_marked", cause: "shutdown" }, { next: () => `shutdown/${deps.ids.uuid()}` })
      .catch((error: unknown) =>
        deps.log.warn("a session could not be marked", { sessionId: row.id, error: String((error as Error).name) }),
      );
  }
}

const noMailer: Mailer = {
  destination: "nowhere",
  send: () => Promise.reject(new MailRefused("this runtime was built without a mailer")),
};

function fails(): never {
  throw new Error("the orchestrator is not there yet");
}

/** The table and blobs of the settings. */
export async function openStorage(
  settings: { store: "sqlite" | "dynamodb" | "memory"; data: string },
  now: () => number,
): Promise<{ table: Table; blobs: Blobs }> {
  if (settings.store === "memory") return { table: createMemoryTable({ now }), blobs: createMemoryBlobs() };
  mkdirSync(settings.data, { recursive: true });
  const blobs = createFilesBlobs({ dir: join(settings.data, "blobs") });
  if (settings.store === "sqlite")
    return { table: createSqliteTable({ file: join(settings.data, "baton.sqlite"), now }), blobs };
  const { openDynamoDb } = await import("./open-dynamodb.ts");
  return { table: await openDynamoDb(now), blobs };
}
