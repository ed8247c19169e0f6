// An agent with a memory. The model answers every message, and tests say what it finds when it is asked for facts.
import { defineAgent } from "baton";
import { createApi } from "../../lib/api/create-api.ts";
import type { AgentOptions } from "../../lib/core/define-agent.ts";
import type { Agent } from "../../lib/core/define-flow.ts";
import type { EventOf } from "../../lib/core/event.ts";
import { extractionOpening } from "../../lib/core/memory/extraction.ts";
import type { Fact } from "../../lib/core/memory.ts";
import type { Model, ModelRequest } from "../../lib/ports/model.ts";
import { type Embedded, type EmbedOptions, embed } from "../../lib/testing/embed.ts";
import type { FakeClock } from "../../lib/testing/fake-clock.ts";
import { authenticate } from "../api/api-fixture.ts";

export const ann = { tenant: "acme", user: "ann" };
export const bob = { tenant: "acme", user: "bob" };

/** What the model answers to a question for facts: the text, or what is thrown. Numbered sentences and facts are given. */
export type Finder = (asked: { sentences: string[]; known: string[]; request: ModelRequest }) => string | Error;

export type MemoryWorld = {
  app: Embedded;
  /** Requests of turns, and requests for facts. */
  turns: ModelRequest[];
  questions: ModelRequest[];
  /** Sends, and lets everything run to its end. */
  say(text: string, options?: Parameters<Embedded["send"]>[1]): ReturnType<Embedded["send"]>;
  facts(scope?: { tenant: string; user: string }): Promise<Fact[]>;
  /** Texts of the facts that hold. */
  texts(scope?: { tenant: string; user: string }): Promise<string[]>;
  find(finder: Finder): void;
  ask(path: string, init?: { method?: string; json?: unknown; token?: string }): Promise<Response>;
};

export type MemoryOptions = Partial<EmbedOptions> & {
  memory?: AgentOptions["memory"];
  agent?: Agent;
  more?: Partial<AgentOptions>;
};

/** Every sentence that does not end with a question mark is a preference. */
export const everything: Finder = ({ sentences }) =>
  found(...sentences.flatMap((text, at) => (text.endsWith("?") ? [] : [{ sentences: [at + 1] }])));

export function found(...facts: { sentences: number[]; kind?: string; replaces?: number[] }[]): string {
  return JSON.stringify({ facts: facts.map((fact) => ({ kind: "preference", ...fact })) });
}

export function memoryWorld(options: MemoryOptions = {}): MemoryWorld {
  const { memory = { enabled: true }, agent, more, ...rest } = options;
  const turns: ModelRequest[] = [];
  const questions: ModelRequest[] = [];
  let finder = everything;
  const mine = agent ?? defineAgent({ name: "talker", instructions: "Talk.", model: { id: "m" }, memory, ...more });
  const model: Model = options.model ?? {
    async reply(request, how) {
      const isQuestion = request.system[0]?.text.startsWith(extractionOpening) === true;
      (isQuestion ? questions : turns).push(request);
      how?.signal?.throwIfAborted();
      const answer = isQuestion ? finder(asked(request)) : "Done.";
      if (answer instanceof Error) throw answer;
      const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 };
      return { model: request.model, content: [{ type: "text", text: answer }], stop: "end_turn", usage };
    },
  };
  const app = embed({ agents: [mine], ...rest, model });
  const api = createApi({ deps: app.deps, authenticate, info: { version: "0", model: "none" } });
  const facts = (scope = ann) => app.deps.store.facts.list(scope);
  return {
    app,
    turns,
    questions,
    facts,
    async say(text, more) {
      const accepted = await app.send(text, more);
      await app.idle();
      return accepted;
    },
    async texts(scope) {
      const all = await facts(scope);
      return all.flatMap(({ text, validTo }) => (validTo === undefined ? [text] : [])).toSorted();
    },
    find: (next) => {
      finder = next;
    },
    ask: (path, { method, json, token = "acme/ann" } = {}) =>
      api.fetch(
        new Request(`http://baton.test${path}`, {
          method: method ?? "GET",
          headers: { Authorization: `Bearer ${token}` },
          ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        }),
      ),
  };
}

function asked(request: ModelRequest) {
  const text = JSON.stringify(request.messages.map(({ content }) => content));
  const blocks = (JSON.parse(text) as { text: string }[][]).flat().map((block) => block.text);
  const section = (title: string) =>
    (blocks.join("\n").split(`[data begins: ${title}]\n`)[1] ?? "")
      .split("\n[data ends]")[0]
      ?.split("\n")
      .flatMap((line) => line.match(/^\| \d+\. (.*)$/)?.[1] ?? []) ?? [];
  return { sentences: section("sentences that the user wrote"), known: section("facts known already"), request };
}

/** Everything that a request holds, as text. */
export function whole(request: ModelRequest | undefined): string {
  return JSON.stringify([request?.system, request?.messages]);
}

/** What the log tells of long-term memory. */
export async function learnt(world: MemoryWorld, sessionId: string): Promise<EventOf<"memory.updated">[]> {
  const events = await world.app.deps.store.log.events("acme", sessionId, 0);
  return events.flatMap(({ event }) => (event.type === "memory.updated" ? [event] : []));
}

export const advance = (world: MemoryWorld, ms: number) => (world.app.clock as FakeClock).advance(ms);

export const known = {
  text: "Something that is known.",
  kind: "context" as const,
  source: { sessionId: "20261130_120000_0000abcd", turn: 1 },
  origin: "user" as const,
  validFrom: 1,
  storedAt: 1,
  revision: 1,
};
