// Compactions that go wrong, come at a bad time, or must not come at all: H48, H49, H50, H57.
import { describe, expect, it } from "vitest";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { ModelOverloaded } from "../../lib/core/errors.ts";
import { contextBudget, estimateTokens } from "../../lib/core/estimate.ts";
import type { ModelReply } from "../../lib/ports/model.ts";
import type { Table } from "../../lib/ports/table.ts";
import { embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { goodSummary, longAgent, longModel, textOfRequest } from "../support/long-session.ts";
import { eventsOf, play, readRun, requestCompaction } from "../support/run-long.ts";

const looks = (last: number) => (n: number) => (n % 100 <= last ? [{ name: "look", input: { n } }] : null);
const text = (text: string): Partial<ModelReply> => ({ content: [{ type: "text", text }] });

describe("a summary that is none", () => {
  const bad: [string, () => Partial<ModelReply>, string][] = [
    ["nothing", () => ({ content: [] }), "compaction.blank"],
    ["spaces", () => text(" \n\t"), "compaction.blank"],
    [
      "thinking only",
      () => ({ content: [{ type: "thinking", issuer: "scripted", thinking: "hm", signature: "s" }] }),
      "compaction.blank",
    ],
    ["the output limit", () => ({ ...goodSummary(), stop: "max_tokens" }), "compaction.stop_reason"],
    ["a refusal", () => ({ ...text("I cannot."), stop: "refusal" }), "compaction.stop_reason"],
    [
      "overload",
      () => {
        throw new ModelOverloaded("Overloaded");
      },
      "model.overloaded",
    ],
    ["more than it replaces", () => text("word ".repeat(8000)), "compaction.not_smaller"],
  ];
  it.each(bad)("changes nothing and is backed off from: %s (H50, G13)", async (_, summarise, code) => {
    const model = longModel({ calls: looks(18), summarise });
    const agent = longAgent();
    const embedded = embed({ agents: [agent], model });
    const run = await play(embedded, "go 1");
    const refused = eventsOf(run, "compaction.refused");
    expect(refused.map(({ error }) => error.code)).toEqual([code]);
    expect(eventsOf(run, "compaction.done")).toEqual([]);
    expect(eventsOf(run, "turn.finished").map(({ answer }) => answer)).toEqual(["Answer after round 18."]);
    const at = run.checkpoints.findIndex(({ event }) => event.type === "compaction.refused");
    const [before, after] = [run.checkpoints[at - 1], run.checkpoints[at]];
    const apart = { marks: null, usage: null, days: null };
    expect({ ...after?.state, ...apart }).toEqual({ ...before?.state, ...apart });
    expect(after?.state.marks).toEqual({ ...before?.state.marks, compactNotBefore: refused[0]?.notBefore });
    // The model goes on seeing all of it, and nothing of the error.
    const next = textOfRequest(model.requests.at(-1) ?? { messages: [] });
    expect([next.includes('"n":1,'), next.includes("Overloaded"), next.includes("summary")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("is tried again when the back-off is over", async () => {
    const clock = fakeClock();
    let good = false;
    const model = longModel({ calls: looks(17), summarise: () => (good ? goodSummary() : text("")) });
    const embedded = embed({ agents: [longAgent()], model, clock });
    await play(embedded, "go 1");
    good = true;
    await clock.advance(5 * 60_000);
    const run = await play(embedded, "go 118");
    expect(run.checkpoints.flatMap(({ event }) => (event.type.startsWith("compaction.") ? [event.type] : []))).toEqual([
      "compaction.refused",
      "compaction.done",
    ]);
  });

  it("is a copy of the last answer", async () => {
    const model = longModel({ calls: looks(12), summarise: () => text("Answer after round 12.") });
    const embedded = embed({ agents: [longAgent()], model });
    const { sessionId } = await play(embedded, "go 1");
    await requestCompaction(embedded, sessionId);
    await embedded.idle();
    const run = await readRun(embedded, sessionId);
    expect(eventsOf(run, "compaction.refused").map(({ error }) => error.code)).toEqual(["compaction.copy"]);
  });
});

describe("a summariser", () => {
  it("with a small window gets the history in parts that fit, each with the summary so far (H48)", async () => {
    let part = 0;
    const model = longModel({ calls: looks(17), summarise: () => text(`Goal: part ${++part}. State: ok.`) });
    const summarizerWindowTokens = 2400;
    const agent = longAgent({ model: { id: "scripted", maxTokens: 500, windowTokens: 6000, summarizerWindowTokens } });
    const run = await play(embed({ agents: [agent], model }), "go 1");
    expect(eventsOf(run, "compaction.done")).toHaveLength(1);
    expect(model.summaries.length).toBeGreaterThan(1);
    for (const [i, request] of model.summaries.entries()) {
      expect(estimateTokens(request) + request.maxTokens).toBeLessThanOrEqual(summarizerWindowTokens);
      if (i > 0) expect(textOfRequest(request)).toContain(`| Goal: part ${i}. State: ok.`);
    }
    // All of what is replaced was read.
    const read = model.summaries.map(textOfRequest).join("\n");
    for (let n = 1; n <= 10; n++) expect(read).toContain(`vault code of item ${n} `);
    const { usage } = eventsOf(run, "compaction.done")[0] ?? {};
    expect(usage?.outputTokens).toBe(20 * model.summaries.length);
  });

  it("that hangs is given up after its time, and the turn goes on (H48)", async () => {
    const clock = fakeClock();
    const summarise = (_: unknown, { signal }: { signal?: AbortSignal }) =>
      new Promise<never>((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    const model = longModel({ calls: looks(17), summarise });
    const embedded = embed({ agents: [longAgent()], model, clock });
    const { sessionId } = await embedded.send("go 1");
    while (model.summaries.length === 0 || clock.sleeping() === 0) await new Promise(setImmediate);
    await clock.advance(3 * 60_000);
    await embedded.idle();
    const run = await readRun(embedded, sessionId);
    expect(eventsOf(run, "compaction.refused").map(({ error }) => error.code)).toEqual(["model.unavailable"]);
    expect(eventsOf(run, "turn.finished").map(({ endReason }) => endReason)).toEqual(["completed"]);
  });

  it("is asked before the call when a session comes to a model with a smaller window (H48)", async () => {
    const big = longAgent({ model: { id: "scripted", maxTokens: 500, windowTokens: 100_000 } });
    const first = embed({ agents: [big], model: longModel({ calls: looks(49) }) });
    await play(first, "go 1");
    const agent = longAgent();
    const model = longModel({ calls: looks(2) });
    const run = await play(embed({ ...first, agents: [agent], model }), "go 101");
    expect(eventsOf(run, "compaction.done").map(({ cause }) => cause)).toEqual(["overflow"]);
    expect(model.summaries.length).toBeGreaterThan(1);
    for (const request of model.requests) {
      expect(estimateTokens(request)).toBeLessThanOrEqual(contextBudget(agent.model));
    }
  });
});

describe("no compaction", () => {
  it("comes twice for the same tokens, however large what remains is (H49)", async () => {
    // The newest round alone is over the threshold, and nothing smaller remains of it than a summary.
    const round = [1, 2, 3].map((n) => ({ name: "look", input: { n } }));
    const model = longModel({ calls: () => (model.requests.length <= 3 ? round : null) });
    const embedded = embed({ agents: [longAgent({ resultLines: 90 })], model });
    const run = await play(embedded, "go 1");
    const types = run.checkpoints.map(({ event }) => event.type);
    const doubled = types.filter(
      (type, i) => type.startsWith("compaction.") && types[i + 1]?.startsWith("compaction."),
    );
    expect(types.filter((type) => type === "compaction.done").length).toBeGreaterThan(0);
    expect(doubled).toEqual([]);
    expect(eventsOf(run, "turn.finished").map(({ endReason }) => endReason)).toEqual(["completed"]);
  });

  it("can help when instructions and tools alone do not fit: the turn ends and says what to change (H49)", async () => {
    const model = longModel({ calls: looks(3) });
    const agent = longAgent({ instructions: "Always think twice. ".repeat(1500) });
    const run = await play(embed({ agents: [agent], model }), "go 1");
    expect([model.requests.length, model.summaries.length]).toEqual([0, 0]);
    const [end] = eventsOf(run, "turn.finished");
    expect(end).toMatchObject({ status: "error", endReason: "error" });
    expect(end?.answer).toMatch(
      /agent "long": instructions and tools need about \d+ tokens of the 5320 .* shorten them/,
    );
    expect(eventsOf(run, "model.failed").map(({ error }) => error.code)).toEqual(["agent.invalid_definition"]);
  });

  it("is made for full-replay: it ends with a clear error at the window", async () => {
    const model = longModel({ calls: looks(60) });
    const agent = longAgent({ context: "full-replay", limits: { roundsPerTurn: 90 } });
    const run = await play(embed({ agents: [agent], model }), "go 1");
    expect(model.summaries).toEqual([]);
    const [end] = eventsOf(run, "turn.finished");
    expect(end?.answer).toMatch(/the context needs about \d+ tokens and 5320 fit; "full-replay" drops nothing/);
    expect(model.requests.at(-1)?.messages.length).toBe(model.requests.length * 2 - 1);
  });
});

describe("messages during a compaction", () => {
  /** Calls back around the write of the compaction's event. */
  function watched(base: Table, on: (when: "before" | "after") => Promise<void>): Table {
    return {
      ...base,
      put: async (item, condition) => {
        const hit = item.type === "compaction.done";
        if (hit) await on("before");
        const put = await base.put(item, condition);
        if (hit) await on("after");
        return put;
      },
    };
  }

  it.each(["summary", "before", "after", "tool"] as const)(
    "come each into exactly one turn, in order: three at its %s (H57, G7)",
    async (point) => {
      const clock = fakeClock();
      let sent = false;
      const send = async () => {
        if (sent) return;
        sent = true;
        for (const n of [201, 301, 401]) await embedded.send(`go ${n}`);
      };
      const table = watched(createMemoryTable({ now: () => clock.now() }), async (when) => {
        if (when === point) await send();
      });
      const model = longModel({
        calls: looks(17),
        summarise: async () => {
          if (point === "summary") await send();
          return goodSummary();
        },
      });
      const agent = longAgent();
      const tools = agent.tools.map((tool) => ({
        ...tool,
        run: async (input: unknown, ctx: Parameters<typeof tool.run>[1]) => {
          if (point === "tool" && (input as { n: number }).n === 16) await send();
          return tool.run(input, ctx);
        },
      }));
      const embedded = embed({ agents: [{ ...agent, tools }], model, table, clock });
      const run = await play(embedded, "go 1");
      const starts = eventsOf(run, "turn.started").map(({ messages }) => messages.map(({ content }) => content));
      expect(starts).toEqual([1, 201, 301, 401].map((n) => [[{ type: "text", text: `go ${n}` }]]));
      expect(eventsOf(run, "turn.finished").map(({ endReason }) => endReason)).toEqual(Array(4).fill("completed"));
      expect(eventsOf(run, "compaction.done").length).toBeGreaterThan(0);
      expect(run.checkpoints.map(({ version }) => version)).toEqual(run.checkpoints.map((_, i) => i + 1));
    },
  );

  it("start their turn while the session is summarised between turns, and the summary still holds (H57)", async () => {
    let sent = false;
    const model = longModel({
      calls: looks(12),
      summarise: async () => {
        if (sent) return goodSummary();
        sent = true;
        for (const n of [201, 301, 401]) await embedded.send(`go ${n}`);
        return goodSummary();
      },
    });
    const embedded = embed({ agents: [longAgent()], model });
    const { sessionId } = await play(embedded, "go 1");
    await requestCompaction(embedded, sessionId);
    await embedded.idle();
    const run = await readRun(embedded, sessionId);
    expect(eventsOf(run, "turn.started").map(({ turn }) => turn)).toEqual([1, 2, 3, 4]);
    expect(eventsOf(run, "turn.finished").map(({ endReason }) => endReason)).toEqual(Array(4).fill("completed"));
    expect(run.checkpoints.at(-1)?.state.marks.compactRequested).toBeUndefined();
    const done = eventsOf(run, "compaction.done");
    for (const [i, { from, to }] of done.entries())
      expect([from, to > from]).toEqual([(done[i - 1]?.to ?? 0) + 1, true]);
  });
});
