// Over the wire, against a server that caches prompts as the API does: what was sent once stays a prefix of what is sent
// next until a compaction, so that it is read from the cache and not paid again.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAnthropicModel } from "../../lib/adapters/anthropic.ts";
import type { Json, JsonObject } from "../../lib/core/json.ts";
import { createDemoModelServer, type DemoModelServer } from "../../lib/demo-model/server.ts";
import type { Model } from "../../lib/ports/model.ts";
import { embed } from "../../lib/testing/embed.ts";
import { isSummary, type LongModelOptions, longAgent, longModel } from "../support/long-session.ts";
import { eventsOf, play } from "../support/run-long.ts";

let server: DemoModelServer;
beforeEach(async () => {
  server = await createDemoModelServer({ script: [], minCacheTokens: 100 });
});
afterEach(() => server.close());

/** Answers what `longModel` would, through the server. */
function wireModel(options: LongModelOptions): Model {
  const plan = longModel(options);
  const wire = createAnthropicModel({ apiKey: "test", baseURL: server.url });
  return {
    async reply(request, how) {
      const { content, stop } = await plan.reply(request, how);
      const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
      const calls = content.flatMap((block) =>
        block.type === "call" ? [{ id: block.id, name: block.name, input: block.input }] : [],
      );
      server.push({ ...(text ? { text } : {}), ...(calls.length > 0 ? { calls } : {}), stop });
      return wire.reply(request, how);
    },
  };
}

type Sent = { system: JsonObject[]; tools?: JsonObject[]; messages: { role: string; content: JsonObject[] }[] };

/** Every block of the agent's requests in the order in which it is cached, without the marks. */
function sentBlocks(): string[][] {
  const bodies = server.requests.map(({ body }) => body as unknown as Sent).filter(({ tools }) => tools?.length);
  return bodies.map(({ tools = [], system, messages }) =>
    [...tools, ...system, ...messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...block })))].map(
      ({ cache_control: _, ...block }: JsonObject) => JSON.stringify(block),
    ),
  );
}

describe("the prefix of a request", () => {
  it("is the same bytes from call to call until a compaction, and is read from the cache", async () => {
    const model = wireModel({ calls: (n) => (n % 100 <= 9 ? [{ name: "look", input: { n } }] : null) });
    const run = await play(embed({ agents: [longAgent()], model }), "go 1", "go 101", "go 201", "go 301");
    const compactions = eventsOf(run, "compaction.done").length;
    expect(compactions).toBeGreaterThanOrEqual(2);

    const sent = sentBlocks();
    const breaks = sent.flatMap((blocks, i) => {
      const before = sent[i - 1] ?? [];
      return before.every((block, at) => blocks[at] === block) ? [] : [i];
    });
    expect(breaks).toHaveLength(compactions);

    const replies = eventsOf(run, "model.replied");
    expect(replies).toHaveLength(sent.length);
    for (const [i, { usage }] of replies.entries()) {
      const { inputTokens, cacheReadTokens, cacheWriteTokens } = usage;
      // The first call writes; so does the one after the first compaction, which has recall among its tools. Every other
      // one reads at least instructions and tools, and all that was sent before while nothing breaks.
      expect([i, cacheReadTokens > 0]).toEqual([i, i !== 0 && i !== breaks[0]]);
      if (i > 0 && !breaks.includes(i)) {
        const before = replies[i - 1]?.usage ?? usage;
        expect(cacheReadTokens).toBeGreaterThanOrEqual(before.cacheReadTokens + before.cacheWriteTokens);
      }
      // Nothing but the uncached end is paid in full.
      expect(inputTokens).toBeLessThan(20);
      expect(cacheWriteTokens).toBeGreaterThan(0);
    }
    const total = run.checkpoints.at(-1)?.state.usage;
    expect(total?.cacheReadTokens).toBe(replies.reduce((sum, { usage }) => sum + usage.cacheReadTokens, 0));
  });

  it("moves only now and then in a sliding window", async () => {
    const model = wireModel({ calls: (n) => (n % 100 <= 30 ? [{ name: "look", input: { n } }] : null) });
    const agent = longAgent({ context: "sliding-window", windowTokens: 2000 });
    await play(embed({ agents: [agent], model }), "go 1");
    const sent = sentBlocks();
    const breaks = sent.filter((blocks, i) => i > 0 && !(sent[i - 1] ?? []).every((block, at) => blocks[at] === block));
    expect(sent).toHaveLength(31);
    expect(breaks.length).toBeGreaterThan(2);
    expect(breaks.length).toBeLessThan(sent.length / 3);
  });

  it("is never marked for the cache in a summary call, which is sent once", async () => {
    const model = wireModel({ calls: (n) => (n <= 18 ? [{ name: "look", input: { n } }] : null) });
    await play(embed({ agents: [longAgent()], model }), "go 1");
    const summaries = server.requests.filter(({ body }) => isSummary({ tools: [], ...(body as object) } as never));
    expect(summaries).toHaveLength(1);
    expect(JSON.stringify(summaries as unknown as Json)).not.toContain("cache_control");
  });
});
