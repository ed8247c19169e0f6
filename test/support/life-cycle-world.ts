// An agent whose answers say which messages it saw, for tests of the life cycle: "work" makes it use its tool, which
// may be held open; anything else is answered at once.
import { defineAgent, defineTool } from "baton";
import * as z from "zod";
import type { SessionPolicy } from "../../lib/core/define-agent.ts";
import type { ApprovalRule } from "../../lib/core/define-tool.ts";
import type { Event } from "../../lib/core/event.ts";
import type { Model, ModelRequest } from "../../lib/ports/model.ts";
import type { Accept, Accepted } from "../../lib/sessions/accept.ts";
import { type Embedded, type EmbedOptions, embed } from "../../lib/testing/embed.ts";
import { type FakeClock, fakeClock } from "../../lib/testing/fake-clock.ts";

export const tenant = "acme";
export const key = "agent:test";
export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Holds whoever passes until it is opened. */
export type Gate = { hold(): void; open(): void; reached: Promise<void>; pass(): Promise<void> };

export function createGate(): Gate {
  let held = Promise.withResolvers<void>();
  let arrived = Promise.withResolvers<void>();
  held.resolve();
  return {
    hold() {
      held = Promise.withResolvers();
      arrived = Promise.withResolvers();
    },
    open: () => held.resolve(),
    get reached() {
      return arrived.promise;
    },
    async pass() {
      arrived.resolve();
      await held.promise;
    },
  };
}

export type World = {
  app: Embedded;
  clock: FakeClock;
  /** Held: the tool does not return. */
  tool: Gate;
  /** Held: the model does not answer. */
  model: Gate;
  requests: ModelRequest[];
  /** Inputs that the tool was run with. */
  ran: number[];
  send(text: string, options?: Partial<Accept>): Promise<Accepted>;
  /** Sends, and lets everything run to its end. */
  say(text: string, options?: Partial<Accept>): Promise<Accepted>;
  events(sessionId: string): Promise<Event[]>;
};

export type WorldOptions = Partial<EmbedOptions> & {
  session?: SessionPolicy;
  approval?: ApprovalRule;
  /** Throws when the model is asked; undefined: it answers. */
  fails?: (request: ModelRequest) => Error | undefined;
};

export function lifeCycleWorld(options: WorldOptions = {}): World {
  const { session, approval, fails, ...rest } = options;
  const clock = (options.clock as FakeClock | undefined) ?? fakeClock();
  const tool = createGate();
  const gate = createGate();
  const requests: ModelRequest[] = [];
  const ran: number[] = [];
  const work = defineTool({
    name: "work",
    description: "works",
    input: z.object({ n: z.int() }),
    effect: "once",
    timeout: "14m",
    ...(approval ? { approval } : {}),
    verify: () => "not_done",
    run: async ({ n }) => {
      await tool.pass();
      ran.push(n);
      return { worked: n };
    },
  });
  const agent = defineAgent({
    name: "talker",
    instructions: "Talk.",
    model: { id: "scripted" },
    tools: [work],
    ...(session ? { session } : {}),
  });
  const app = embed({ agents: [agent], model: talkingModel({ gate, requests, fails }), clock, ...rest });
  return {
    app,
    clock,
    tool,
    model: gate,
    requests,
    ran,
    send: (text, more) => app.send(text, more),
    async say(text, more) {
      const accepted = await app.send(text, more);
      await app.idle();
      return accepted;
    },
    events: async (sessionId) => (await app.deps.store.log.events(tenant, sessionId, 0)).map(({ event }) => event),
  };
}

/** Texts of people in these tests are one word with a number, or "work" with one. */
const personal = /^(?:M|work )\d+$/;

function talkingModel(options: { gate: Gate; requests: ModelRequest[]; fails: WorldOptions["fails"] }): Model {
  return {
    async reply(request) {
      options.requests.push(request);
      await options.gate.pass();
      const error = options.fails?.(request);
      if (error) throw error;
      const last = request.messages.at(-1);
      const blocks = last?.role === "user" ? last.content : [];
      const texts = blocks.flatMap((block) => (block.type === "text" && personal.test(block.text) ? [block.text] : []));
      const done = blocks.some((block) => block.type === "result");
      const asked = texts.find((text) => text.startsWith("work "));
      const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 };
      if (asked && !done) {
        const id = `call_${options.requests.length}`;
        const input = { n: Number(asked.slice(5)) };
        return { model: request.model, content: [{ type: "call", id, name: "work", input }], stop: "tool_use", usage };
      }
      const text = `heard ${texts.join(", ")}${done ? " after work" : ""}`;
      return { model: request.model, content: [{ type: "text", text }], stop: "end_turn", usage };
    },
  };
}

/** Everything that a session's request holds as text, for asking what the model was told. */
export function told(request: ModelRequest | undefined): string {
  return JSON.stringify([request?.system, request?.messages]);
}

/** The messages of every session of the key, turn by turn, oldest session first. */
export async function allTurns(
  app: Embedded,
  from: string,
): Promise<{ sessionId: string; turn: number; texts: string[] }[]> {
  const turns: { sessionId: string; turn: number; texts: string[] }[] = [];
  let id: string | undefined = from;
  while (id) {
    const head = await app.deps.store.log.head(tenant, id);
    for (const { event, state } of await app.deps.store.log.events(tenant, id, 0)) {
      if (event.type === "turn.started") turns.push({ sessionId: id, turn: event.turn, texts: textsOf(event) });
      if (event.type === "turn.steered")
        turns.find((t) => t.sessionId === id && t.turn === state.turns)?.texts.push(...textsOf(event));
    }
    id = head?.state.lifecycle.kind === "closed" ? head.state.lifecycle.successor : undefined;
  }
  return turns;
}

function textsOf(event: Event & { type: "turn.started" | "turn.steered" }): string[] {
  return event.messages.flatMap((message) =>
    message.content.map((block) => (block.type === "text" ? block.text : "?")),
  );
}
