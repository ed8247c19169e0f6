// What the five strategies cost and lose on one recorded session of 200 turns: tokens, cache reads and bytes sent to a
// server that caches as the API does, money at list price, and details that the last request does not hold any more.
import { createAnthropicModel } from "../../lib/adapters/anthropic.ts";
import type { ContextStrategy } from "../../lib/core/define-agent.ts";
import { createDemoModelServer } from "../../lib/demo-model/server.ts";
import type { Model, ModelRequest } from "../../lib/ports/model.ts";
import { searchLog } from "../../lib/store/search-log.ts";
import { embed } from "../../lib/testing/embed.ts";
import type { Row } from "../context.ts";
import { answer, questions, recordedAgent, searchFor, texts, turns, userText } from "../recorded-session.ts";

/** full-replay needs a window that holds everything. */
const strategies: [ContextStrategy, number][] = [
  ["full-replay", 200_000],
  ["compaction", 50_000],
  ["auto", 50_000],
  ["checkpoint", 50_000],
  ["sliding-window", 50_000],
];

export const context: Row = {
  name: "context",
  about: "tokens, cache reads, bytes, money and lost details of each context strategy over 200 turns",
  async run(bench) {
    const figures = [];
    for (const [strategy, windowTokens] of strategies) {
      bench.say(`${turns} turns with ${strategy}`);
      const cost = await measure(strategy, windowTokens);
      const name = (what: string) => `${strategy}, ${what}`;
      figures.push(
        { name: name("tokens sent"), value: cost.inputTokens, unit: "tokens", note: `window ${windowTokens}` },
        { name: name("read from the cache"), value: (100 * cost.cacheReadTokens) / cost.inputTokens, unit: "%" },
        { name: name("bytes sent"), value: cost.bytes, unit: "B" },
        { name: name("money"), value: cost.usdMicros / 1e6, unit: "USD", note: "list price, summaries included" },
        { name: name("compactions"), value: cost.compactions, unit: "" },
        { name: name("details lost"), value: cost.lost.length, unit: `of ${questions.length}`, note: kinds(cost.lost) },
        { name: name("lost after recall"), value: cost.lostForever.length, unit: `of ${questions.length}` },
      );
    }
    return figures;
  },
};

async function measure(strategy: ContextStrategy, windowTokens: number) {
  const server = await createDemoModelServer({ script: [] });
  const wire = createAnthropicModel({ apiKey: "bench", baseURL: server.url });
  let bytes = 0;
  let last: ModelRequest | undefined;
  const model: Model = {
    async reply(request, options) {
      const content = answer(request);
      const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
      const calls = content.flatMap((block) =>
        block.type === "call" ? [{ id: block.id, name: block.name, input: block.input }] : [],
      );
      server.push({ text, ...(calls.length > 0 ? { calls } : {}) });
      const reply = await wire.reply(request, options);
      bytes += Number(server.requests.at(-1)?.headers["content-length"] ?? 0);
      if (request.tools.length > 0) last = request;
      return reply;
    },
  };
  try {
    const runtime = embed({ agents: [recordedAgent(strategy, windowTokens)], model });
    let sessionId = "";
    for (let t = 1; t <= turns; t++) {
      ({ sessionId } = await runtime.send(userText(t)));
      await runtime.idle();
    }
    const { log } = runtime.deps.store;
    const head = await log.head("acme", sessionId);
    if (head?.state.turns !== turns || head.state.lastTurn?.status !== "completed") {
      throw new Error(`${strategy}: the session ended at turn ${head?.state.turns}`);
    }
    const shown = texts(last?.messages ?? []);
    const lost = questions.filter(({ needs }) => !shown.includes(needs));
    const lostForever = [];
    for (const question of lost) {
      const found = await searchLog(log, { ...head, query: searchFor(question.needs) });
      const offered = last?.tools.some(({ name }) => name === "recall") ?? false;
      if (!offered || !found.some(({ text }) => text.includes(question.needs))) lostForever.push(question);
    }
    const events = await log.events("acme", sessionId, 0);
    const { inputTokens, cacheReadTokens, cacheWriteTokens, usdMicros } = head.state.usage;
    return {
      inputTokens: inputTokens + cacheReadTokens + cacheWriteTokens,
      cacheReadTokens,
      usdMicros,
      bytes,
      compactions: events.filter(({ event }) => event.type === "compaction.done").length,
      lost,
      lostForever,
    };
  } finally {
    await server.close();
  }
}

function kinds(lost: typeof questions): string {
  const count = Map.groupBy(lost, ({ kind }) => kind);
  return [...count].map(([kind, some]) => `${some.length} ${kind}`).join(", ");
}
