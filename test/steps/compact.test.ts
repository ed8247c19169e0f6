import { describe, expect, it } from "vitest";
import { contextBudget, estimateTokens } from "../../lib/core/estimate.ts";
import { validateMessages } from "../../lib/core/repair.ts";
import { embed } from "../../lib/testing/embed.ts";
import { goodSummary, longAgent, longModel, textOfRequest } from "../support/long-session.ts";
import { eventsOf, play, readRun, requestCompaction } from "../support/run-long.ts";

/** Rounds 1 to `last` of each turn look at an item; turn k begins at round 100 k + 1. */
const looks = (last: number) => (n: number) => (n % 100 <= last ? [{ name: "look", input: { n } }] : null);

describe("compact", () => {
  it("summarises before the call that would pass the threshold, and goes on in the same session (G13)", async () => {
    const agent = longAgent();
    const model = longModel({ calls: looks(40) });
    const run = await play(embed({ agents: [agent], model }), "go 1");
    const done = eventsOf(run, "compaction.done");
    expect(done.map(({ cause }) => cause)).toEqual(["threshold", "threshold", "threshold"]);
    expect(new Set(run.checkpoints.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(eventsOf(run, "turn.finished").map(({ answer }) => answer)).toEqual(["Answer after round 40."]);
    const budget = contextBudget(agent.model);
    expect(Math.max(...model.requests.map((request) => estimateTokens(request)))).toBeLessThan(budget * 0.8);
    for (const request of model.requests) expect(validateMessages(request.messages)).toEqual([]);
    // Cuts join without gap or overlap.
    expect(done.map(({ from }) => from)).toEqual([1, ...done.slice(0, -1).map(({ to }) => to + 1)]);
  });

  it("counts the tokens and the money of its own calls", async () => {
    const model = longModel({ calls: looks(20) });
    const agent = longAgent({
      model: { id: "scripted", maxTokens: 500, windowTokens: 6000, summarizer: "claude-haiku-4-5" },
    });
    const { checkpoints } = await play(embed({ agents: [agent], model }), "go 1");
    const at = checkpoints.findIndex(({ event }) => event.type === "compaction.done");
    const [before, after] = [checkpoints[at - 1], checkpoints[at]];
    if (after?.event.type !== "compaction.done") throw new Error("no compaction");
    expect(after.event).toMatchObject({ model: "claude-haiku-4-5", usage: { outputTokens: 20 } });
    expect(after.event.usdMicros).toBeGreaterThan(0);
    expect(after.state.usage.usdMicros - (before?.state.usage.usdMicros ?? 0)).toBe(after.event.usdMicros);
    expect(after.state.usage.inputTokens - (before?.state.usage.inputTokens ?? 0)).toBe(after.event.usage.inputTokens);
  });

  it("runs on request between turns, and answers a request with nothing to do", async () => {
    const model = longModel({ calls: looks(12) });
    const embedded = embed({ agents: [longAgent()], model });
    const { sessionId } = await play(embedded, "go 1");
    for (let i = 0; i < 2; i++) {
      await requestCompaction(embedded, sessionId);
      await embedded.idle();
    }
    const run = await readRun(embedded, sessionId);
    expect(eventsOf(run, "compaction.done").map(({ cause }) => cause)).toEqual(["requested"]);
    expect(eventsOf(run, "compaction.refused").map(({ error }) => error.code)).toEqual(["compaction.nothing_new"]);
    expect(run.checkpoints.at(-1)?.state.marks.compactRequested).toBeUndefined();
    expect(model.summaries).toHaveLength(1);
    // The last message of the user is kept word for word.
    expect(eventsOf(run, "compaction.done")[0]?.summary).toMatchObject({ latestUser: "go 1" });
    await play(embedded, "go 101");
    const next = textOfRequest(model.requests.at(-13) ?? { messages: [] });
    expect(next).toContain("Goal: look at the items.");
    expect(next).toContain("| go 1\n");
    expect(next).not.toContain('"n":5,');
  });

  it("runs on request inside a turn at the next step, but never with an open call", async () => {
    let sessionId = "";
    const model = longModel({ calls: looks(12) });
    const request = async () => {
      await requestCompaction(embedded, sessionId);
      return goodSummary();
    };
    const agent = longAgent();
    const tools = agent.tools.map((tool) => ({
      ...tool,
      run: async (input: unknown, ctx: Parameters<typeof tool.run>[1]) => {
        if ((input as { n: number }).n === 11) {
          sessionId = ctx.sessionId;
          await request();
        }
        return tool.run(input, ctx);
      },
    }));
    const embedded = embed({ agents: [{ ...agent, tools }], model });
    const run = await play(embedded, "go 1");
    const types = run.checkpoints.map(({ event }) => event.type);
    const at = types.indexOf("compaction.requested");
    expect(types.slice(at, at + 4)).toEqual([
      "compaction.requested",
      "call.finished",
      "compaction.done",
      "model.replied",
    ]);
  });

  it("runs for every strategy on request, and by itself only for those that summarise", async () => {
    for (const context of ["sliding-window", "checkpoint"] as const) {
      const model = longModel({ calls: looks(40) });
      const embedded = embed({ agents: [longAgent({ context, windowTokens: 2000 })], model });
      const { sessionId } = await play(embedded, "go 1");
      expect([context, model.summaries.length]).toEqual([context, 0]);
      await requestCompaction(embedded, sessionId);
      await embedded.idle();
      const run = await readRun(embedded, sessionId);
      expect([context, eventsOf(run, "compaction.done").length]).toEqual([context, 1]);
    }
  });

  it("comes before the first call of another model, from half of the budget on", async () => {
    const first = embed({ agents: [longAgent()], model: longModel({ calls: looks(11) }) });
    await play(first, "go 1");
    const agent = longAgent({ model: { id: "other", maxTokens: 500, windowTokens: 6000 } });
    const model = longModel({ calls: looks(2) });
    const next = embed({ agents: [agent], model, table: first.table, blobs: first.blobs, clock: first.clock });
    const run = await play(next, "go 101");
    expect(eventsOf(run, "compaction.done").map(({ cause }) => cause)).toEqual(["model_changed"]);
    expect(model.requests).toHaveLength(3);
  });

  it("leaves to another execution what is its own", async () => {
    const embedded = embed({ agents: [longAgent()], model: longModel({ calls: () => null }) });
    const { sessionId } = await play(embedded, "go 1");
    await requestCompaction(embedded, sessionId);
    await embedded.idle();
    const before = (await readRun(embedded, sessionId)).checkpoints.length;
    const { createSteps } = await import("../../lib/steps/index.ts");
    const input = { tenant: "acme", sessionId, turn: 1, segment: 0, execution: "stranger" };
    expect(await createSteps(embedded.deps).compact(input)).toMatchObject({ next: "done" });
    expect((await readRun(embedded, sessionId)).checkpoints).toHaveLength(before);
  });
});
