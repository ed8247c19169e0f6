// The embedded runtime for tests: real steps, real machine, real store; memory, a fake clock and no waiting.
import { createMemoryBlobs } from "../adapters/memory-blobs.ts";
import { createMemoryTable } from "../adapters/memory-table.ts";
import type { Agent } from "../core/define-flow.ts";
import type { Prices } from "../core/prices.ts";
import { buildRuntime, type Runtime, type RuntimeOptions } from "../local/build-runtime.ts";
import type { InterpreterOptions } from "../local/interpreter.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Clock, Ids, Log } from "../ports/clock.ts";
import type { Embeddings } from "../ports/embeddings.ts";
import type { Model } from "../ports/model.ts";
import type { Table } from "../ports/table.ts";
import { sweepAll } from "../recovery/sweep-all.ts";
import { type Accept, type Accepted, acceptMessage } from "../sessions/accept.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import { seededIds } from "./seeded-ids.ts";
import { wordEmbeddings } from "./word-embeddings.ts";

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };

export type EmbedOptions = {
  agents: Agent[];
  model: Model;
  /** @default `wordEmbeddings()` */
  embeddings?: Embeddings;
  /** @default a new memory table */
  table?: Table;
  blobs?: Blobs;
  clock?: Clock;
  ids?: Ids;
  log?: Log;
  roundsPerSegment?: number;
  prices?: Prices;
  onEvent?: InterpreterOptions["onEvent"];
  mailer?: RuntimeOptions["mailer"];
  webhooks?: RuntimeOptions["webhooks"];
  signer?: RuntimeOptions["signer"];
};

export type Embedded = Runtime & {
  table: Table;
  blobs: Blobs;
  clock: Clock;
  /** Accepts a text for the key "agent:test" of tenant "acme", user "ann", unless said otherwise. */
  send(text: string, options?: Partial<Accept>): Promise<Accepted>;
  /** What a new process does first: goes on with every open turn and waiting message. */
  boot(slot?: string): Promise<void>;
  /** What the sweeper does now; answers how many of each. */
  sweep(slot?: string): Promise<Record<string, number>>;
  idle(): Promise<void>;
};

/** Time stands still but for short sleeps and for the machine's Wait, where a second passes at each visit. */
export function embed(options: EmbedOptions): Embedded {
  const clock = options.clock ?? fakeClock();
  const table = options.table ?? createMemoryTable({ now: () => clock.now() });
  const blobs = options.blobs ?? createMemoryBlobs();
  const runtime = buildRuntime({
    agents: new Map(options.agents.map((agent) => [agent.name, agent])),
    model: options.model,
    table,
    blobs,
    clock,
    ids: options.ids ?? seededIds("embed"),
    log: options.log ?? silentLog,
    interpreter: {
      waitOverrideMs: 0,
      retryOverrideMs: 0,
      onEvent: (event) => {
        // The machine's Wait passes at once; what it waits for is a time of the clock.
        if (event.kind === "entered" && event.state === "Wait" && isFake(clock)) void clock.advance(1000);
        options.onEvent?.(event);
      },
    },
    embeddings: options.embeddings ?? wordEmbeddings(),
    ...(options.prices ? { prices: options.prices } : {}),
    ...(options.roundsPerSegment === undefined ? {} : { roundsPerSegment: options.roundsPerSegment }),
    ...(options.mailer ? { mailer: options.mailer } : {}),
    ...(options.webhooks ? { webhooks: options.webhooks } : {}),
    ...(options.signer ? { signer: options.signer } : {}),
  });
  let sweeps = 0;
  return {
    ...runtime,
    table,
    blobs,
    clock,
    send: (text, more = {}) =>
      acceptMessage(runtime.deps, {
        tenant: "acme",
        user: "ann",
        key: "agent:test",
        content: [{ type: "text", text }],
        via: "api",
        ...more,
      }),
    boot: async (slot = "boot") => {
      // What failed is tried again, as the sweeper of a running process does.
      for (let run = 1; run <= 3; run++) {
        const { counts } = await sweepAll(runtime.deps, { before: Number.MAX_SAFE_INTEGER, cause: "crash", slot });
        if (!counts.failed) return;
      }
    },
    sweep: async (slot = `sweep-${++sweeps}`) => {
      const { counts } = await sweepAll(runtime.deps, { before: clock.now(), cause: "stuck", slot });
      return counts;
    },
    idle: () => runtime.idle(),
  };
}

function isFake(clock: Clock): clock is FakeClock {
  return "advance" in clock;
}
