// A session in memory that tests write event by event, through the real log.
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import type { Checkpoint } from "../../lib/core/checkpoint.ts";
import type { AssistantContent, StopReason } from "../../lib/core/content.ts";
import type { Event, EventOf, PlannedCall } from "../../lib/core/event.ts";
import { createStore, type Store } from "../../lib/store/index.ts";
import type { Head } from "../../lib/store/log.ts";
import { type FakeClock, fakeClock } from "../../lib/testing/fake-clock.ts";

export const start = Date.parse("2026-05-05T14:30:22.000Z");
export const address = {
  tenant: "acme",
  sessionId: "20260505_143022_a1b2c3d4",
  user: "ann",
  key: "agent:main:cli:dm:ann",
};

export type SessionLog = {
  store: Store;
  clock: FakeClock;
  /** Appends each event one second after the one before it. */
  append(...events: Event[]): Promise<Head>;
  all(): Promise<Checkpoint[]>;
};

export function sessionLog(at: Partial<typeof address> & { store?: Store; clock?: FakeClock } = {}): SessionLog {
  const where = { ...address, ...at };
  const clock = at.clock ?? fakeClock({ start, autoUnderMs: 0 });
  const store =
    at.store ??
    createStore({ table: createMemoryTable({ now: () => clock.now() }), blobs: createMemoryBlobs(), clock });
  let head: Head | null = null;
  let writes = 0;
  return {
    store,
    clock,
    async append(...events) {
      for (const event of events) {
        if (head) clock.set(clock.now() + 1000);
        head = await store.log.append(head, event, { next: () => `test/${where.sessionId}/${writes++}` });
      }
      if (!head) throw new Error("append at least one event");
      await store.statuses.write(head.state, head.version, clock.now());
      return head;
    },
    all: () => store.log.events(where.tenant, where.sessionId, 0),
  };
}

export function created(at: Partial<typeof address> = {}): Event {
  return { type: "session.created", ...address, ...at, agent: "aml", reason: "first" };
}

export function turnStarted(turn: number, text = "Investigate C-1042"): Event {
  const from = { user: address.user, via: "api" as const };
  const message = { messageId: `m-${turn}`, seq: turn, content: [{ type: "text" as const, text }], at: start, from };
  return { type: "turn.started", turn, owner: "x", messages: [message] };
}

export function replied(
  round: number,
  options: {
    text?: string;
    calls?: Partial<PlannedCall>[];
    stop?: StopReason;
    input?: EventOf<"call.started">["input"];
  } = {},
): Event {
  const calls = (options.calls ?? []).map((call, index): PlannedCall => {
    return { index, id: `c${round}-${index}`, tool: "fetch", effect: "read", gated: false, ...call };
  });
  const content: AssistantContent[] = [
    ...(options.text ? [{ type: "text" as const, text: options.text }] : []),
    ...calls.map((call) => ({
      type: "call" as const,
      id: call.id,
      name: call.tool,
      input: options.input ?? { id: "C-1042" },
    })),
  ];
  return {
    type: "model.replied",
    round,
    model: "m1",
    content,
    stop: options.stop ?? (calls.length > 0 ? "tool_use" : "end_turn"),
    usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 5, cacheWriteTokens: 0 },
    usdMicros: 1500,
    calls,
  };
}

export function callStarted(round: number, index: number, attempt = 1): Event {
  return {
    type: "call.started",
    round,
    index,
    tool: "fetch",
    input: { id: "C-1042" },
    inputHash: "h",
    idempotencyKey: `k${index}`,
    effect: "once",
    attempt,
    leaseUntil: start + 70_000,
  };
}

export function callFinished(round: number, index: number, outcome?: EventOf<"call.finished">["outcome"]): Event {
  const result = {
    type: "result" as const,
    callId: `c${round}-${index}`,
    content: [{ type: "text" as const, text: "3 rows" }],
    isError: false,
  };
  return {
    type: "call.finished",
    round,
    index,
    callId: `c${round}-${index}`,
    tool: "fetch",
    effect: "read",
    outcome: outcome ?? { status: "success", output: { rows: 3 } },
    result,
    tookMs: 400,
  };
}

export function turnFinished(turn: number, answer = "Done."): Event {
  return { type: "turn.finished", turn, status: "completed", endReason: "completed", answer };
}
