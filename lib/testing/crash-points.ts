// allCrashPoints: plays a conversation once undisturbed and then once for every instant at which a process can
// die or lose an answer, each time going on in a new process. What comes out must be the same (G1–G5, G7).

import { createMemoryBlobs } from "../adapters/memory-blobs.ts";
import { createMemoryTable } from "../adapters/memory-table.ts";
import type { Checkpoint } from "../core/checkpoint.ts";
import type { Agent } from "../core/define-flow.ts";
import { isDisposition } from "../core/errors.ts";
import type { Event } from "../core/event.ts";
import type { ReplyLine } from "../demo-model/script-line.ts";
import type { Model } from "../ports/model.ts";
import type { Table } from "../ports/table.ts";
import type { Accepted } from "../sessions/accept.ts";
import { type Embedded, embed } from "./embed.ts";
import { fakeClock } from "./fake-clock.ts";
import { Crash, createFaultyTable, type FaultPlan } from "./faulty-table.ts";
import { replayModel } from "./replay-model.ts";
import { seededIds } from "./seeded-ids.ts";
import { type Decide, untilAsking } from "./until-asking.ts";
import { withTools } from "./with-tools.ts";

/** One instant: the n-th write of the first process, or the n-th run of a tool's body. */
export type CrashPoint =
  | { kind: "write"; n: number; fault: "death before" | "death after" | "lost answer" | "lost request" }
  | { kind: "effect"; n: number; fault: "death before" | "death after" };

export type Played = {
  /** What happened, without attempts, times and recoveries: equal for equal outcomes. */
  history: unknown[];
  /** How often each call's body ran to its end, by idempotency key. */
  effects: Record<string, number>;
  answers: string[];
  checkpoints: Checkpoint[];
  /** Writes and tool runs of the first process. */
  writes: number;
  runs: number;
};

export type CrashOptions = {
  /** @default one message, "go" */
  messages?: string[];
  roundsPerSegment?: number;
  /** What people decide when the agent asks them. @default nobody decides: the conversation ends there */
  decide?: Decide;
  /** Model of each process; its answers must follow from the request alone. @default the script, by the place in the conversation */
  model?: () => Model;
};

/** Every crash point of the undisturbed run. */
export async function crashPoints(
  agent: Agent,
  script: ReplyLine[],
  options: CrashOptions = {},
): Promise<{ undisturbed: Played; points: CrashPoint[] }> {
  const undisturbed = await playThrough([], agent, script, options);
  const writes = Array.from({ length: undisturbed.writes }, (_, i) => i + 1);
  const runs = Array.from({ length: undisturbed.runs }, (_, i) => i + 1);
  const points: CrashPoint[] = [
    ...writes.flatMap((n) =>
      (["death before", "death after", "lost answer", "lost request"] as const).map((fault) => ({
        kind: "write" as const,
        n,
        fault,
      })),
    ),
    ...runs.flatMap((n) =>
      (["death before", "death after"] as const).map((fault) => ({ kind: "effect" as const, n, fault })),
    ),
  ];
  return { undisturbed, points };
}

/** Plays the conversation with one fault at `point`. */
export function crashAt(
  point: CrashPoint,
  agent: Agent,
  script: ReplyLine[],
  options: CrashOptions = {},
): Promise<Played> {
  return playThrough([point], agent, script, options);
}

/** Plays the conversation in as many processes as it takes; the n-th process meets the n-th fault. */
export async function playThrough(
  schedule: readonly CrashPoint[],
  agent: Agent,
  script: ReplyLine[],
  options: CrashOptions = {},
): Promise<Played> {
  const clock = fakeClock();
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  const effects: Record<string, number> = {};
  const answers: string[] = [];
  const messages = options.messages ?? ["go"];
  const first = { writes: 0, runs: 0 };
  let sessionId = "";
  let process = 0;
  let pending = 0;

  while (pending < messages.length) {
    const life = startLife({
      base,
      blobs,
      clock,
      agent,
      script,
      options,
      effects,
      point: schedule[process] ?? null,
      seed: `process ${process}`,
    });
    try {
      if (process > 0) await life.embedded.boot(`boot${process}`);
      for (; pending < messages.length; pending++) {
        // A client that got no answer sends the same request again, with the same key.
        const accepted = await sendUntilAccepted(life, messages[pending] ?? "", `message ${pending}`);
        sessionId = accepted.sessionId;
        const place = { tenant: "acme", sessionId, died: life.died };
        const waiting = await untilAsking(life.embedded, place, options.decide);
        if (life.dead()) throw new Crash("the process is dead");
        // Nobody will ever decide.
        if (waiting.length > 0) pending = messages.length;
      }
    } catch (error) {
      if (!life.dead()) throw error;
    }
    if (process === 0) Object.assign(first, life.counts());
    await life.embedded.stop(0).catch(() => {});
    process++;
    if (process > 20) throw new Error("the conversation does not come to an end");
  }

  const reader = embed({ agents: [agent], model: replayModel([]), table: base, blobs, clock });
  const checkpoints = await reader.deps.store.log.events("acme", sessionId, 0);
  for (const { event } of checkpoints)
    if (event.type === "turn.finished" || event.type === "turn.failed") answers.push(event.answer);
  return { history: historyOf(checkpoints), effects, answers, checkpoints, ...first };
}

/** A client repeats its request, with the same key, while the answer is "try again". */
async function sendUntilAccepted(life: Life, text: string, idempotencyKey: string): Promise<Accepted> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await life.embedded.send(text, { idempotencyKey });
    } catch (error) {
      if (!isDisposition(error, "Transient") || attempt === 5) throw error;
    }
  }
}

type Life = {
  embedded: Embedded;
  dead(): boolean;
  died: Promise<void>;
  counts(): { writes: number; runs: number };
};

function startLife(setup: {
  base: Table;
  blobs: Embedded["blobs"];
  clock: Embedded["clock"];
  agent: Agent;
  script: ReplyLine[];
  options: CrashOptions;
  effects: Record<string, number>;
  point: CrashPoint | null;
  seed: string;
}): Life {
  const { point, effects } = setup;
  let killed = false;
  let runs = 0;
  const plan: FaultPlan = [{ fault: "death before", on: () => killed }];
  if (point?.kind === "write") plan.push({ fault: point.fault, on: point.n });
  const table = createFaultyTable(setup.base, plan);
  const hits = (fault: string) => point?.kind === "effect" && point.n === runs && point.fault === fault;
  const die = (): never => {
    killed = true;
    throw new Crash("the process died around an effect");
  };
  const agent = withTools(setup.agent, (tool) => ({
    ...tool,
    run: async (input, ctx) => {
      if (killed || table.dead) throw new Crash("a dead process runs nothing");
      runs++;
      if (hits("death before")) die();
      const output = await tool.run(input, ctx);
      effects[ctx.idempotencyKey] = (effects[ctx.idempotencyKey] ?? 0) + 1;
      if (hits("death after")) die();
      return output;
    },
  }));
  const dead = () => killed || table.dead;
  const { promise: died, resolve: end } = Promise.withResolvers<void>();
  const embedded = embed({
    agents: [agent],
    model: setup.options.model?.() ?? replayModel(setup.script),
    // A dead process runs nothing, so whatever its machine says next is its end: an open question would keep it.
    onEvent: () => dead() && end(),
    table,
    blobs: setup.blobs,
    clock: setup.clock,
    ids: seededIds(setup.seed),
    ...(setup.options.roundsPerSegment === undefined ? {} : { roundsPerSegment: setup.options.roundsPerSegment }),
  });
  return { embedded, dead, died, counts: () => ({ writes: table.writes, runs }) };
}

/** Recoveries, attempts, owners, times and ids are how it came about, not what happened. */
export function historyOf(checkpoints: readonly Checkpoint[]): unknown[] {
  return checkpoints.flatMap(({ event }) => told(event) ?? []);
}

function told(event: Event): unknown {
  switch (event.type) {
    case "session.resumed":
    case "session.resume_marked":
    case "turn.continued":
    case "call.started":
    case "approval.mailed":
    case "approval.shown":
      return null;
    case "approval.requested": {
      // Not its hash: that covers the session's id.
      const { type, round, index, kind, tool, approvers } = event;
      return { type, round, index, kind, tool, approvers };
    }
    case "approval.decided":
      return {
        type: event.type,
        index: event.index,
        status: event.status,
        decisions: event.decisions.map(({ by, decision, comment }) => ({ by, decision, comment })),
      };
    case "session.created":
      return { type: event.type, key: event.key, agent: event.agent, reason: event.reason };
    case "turn.started":
      return { type: event.type, turn: event.turn, content: event.messages.map((message) => message.content) };
    case "model.replied": {
      const { type, round, content, stop, calls } = event;
      return { type, round, content, stop, calls };
    }
    case "call.finished": {
      const { type, round, index, tool, outcome } = event;
      return { type, round, index, tool, outcome };
    }
    default:
      return event;
  }
}
