// Long turns: they go on in execution after execution, and stop works at any moment (H74).
import { defineAgent, defineTool } from "baton";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { Model } from "../../lib/ports/model.ts";
import { stopSession } from "../../lib/sessions/control.ts";
import { embed } from "../../lib/testing/embed.ts";

/** A model that asks for `calls` calls in each of `rounds` rounds, then answers; and how often the tool ran. */
function longWork(rounds: number, calls: number) {
  const ran = new Map<string, number>();
  let round = 0;
  const count = defineTool({
    name: "count",
    description: "counts",
    input: z.object({ round: z.int(), call: z.int() }),
    effect: "idempotent",
    run: (_input, ctx) => {
      ran.set(ctx.idempotencyKey, (ran.get(ctx.idempotencyKey) ?? 0) + 1);
      return "counted";
    },
  });
  const model: Model = {
    async reply({ model: name }) {
      const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 };
      if (round++ >= rounds) return { model: name, content: [{ type: "text", text: "done" }], stop: "end_turn", usage };
      const content = Array.from({ length: calls }, (_, call) => ({
        type: "call" as const,
        id: `c${round}_${call}`,
        name: "count",
        input: { round, call },
      }));
      return { model: name, content, stop: "tool_use", usage };
    },
  };
  const agent = defineAgent({
    name: "counter",
    instructions: "Count.",
    model: { id: "scripted" },
    context: "sliding-window",
    windowTokens: 1000,
    tools: [count],
    limits: { roundsPerTurn: 100_000, turnMinutes: 10_000 },
  });
  return { agent, model, ran };
}

async function play(rounds: number, calls: number) {
  const { agent, model, ran } = longWork(rounds, calls);
  const executions: string[] = [];
  const app = embed({
    agents: [agent],
    model,
    onEvent: (event) => event.kind === "started" && executions.push(event.execution),
  });
  return { app, ran, executions };
}

describe("a long turn", () => {
  it("of 900 tool calls completes, each call once, within one execution (H74)", { timeout: 120_000 }, async () => {
    const { app, ran, executions } = await play(30, 30);
    const { sessionId } = await app.send("go");
    await app.idle();
    const head = await app.deps.store.log.head("acme", sessionId);
    expect(head?.state.lastTurn).toMatchObject({ status: "completed", endReason: "completed" });
    expect({ calls: ran.size, most: Math.max(...ran.values()) }).toEqual({ calls: 900, most: 1 });
    // 30 rounds of 30 calls are 6,630 events of history: within one execution.
    expect(executions).toHaveLength(1);
  });

  it("of 10,000 steps rolls over by rounds, and its snapshot stays small (H74, G14)", {
    timeout: 240_000,
  }, async () => {
    // A round is three steps: thought, action, observation.
    const rounds = 3334;
    const { app, ran, executions } = await play(rounds, 1);
    const { sessionId } = await app.send("go");
    await app.idle();
    const head = await app.deps.store.log.head("acme", sessionId);
    expect(head?.state.lastTurn).toMatchObject({ status: "completed", endReason: "completed" });
    expect(ran.size).toBe(rounds);
    expect(executions).toHaveLength(Math.floor(rounds / 200) + 1);
    expect(JSON.stringify(head?.state).length).toBeLessThan(2048);
  });

  it("with very many calls a round rolls over before its history is full (H74)", { timeout: 120_000 }, async () => {
    const { app, ran, executions } = await play(40, 60);
    const { sessionId } = await app.send("go");
    await app.idle();
    expect((await app.deps.store.log.head("acme", sessionId))?.state.lastTurn).toMatchObject({ status: "completed" });
    expect(ran.size).toBe(2400);
    expect(executions.length).toBeGreaterThan(1);
  });

  it("stops at the next step boundary, wherever it is (H74)", { timeout: 120_000 }, async () => {
    for (const after of [1, 7, 40]) {
      const { app, ran } = await play(1000, 3);
      const { sessionId } = await app.send("go");
      const reached = Promise.withResolvers<void>();
      app.deps.live.subscribe("acme", sessionId, (message) => {
        if (message.kind === "version" && message.version >= after * 4) reached.resolve();
      });
      await reached.promise;
      await stopSession(app.deps, { tenant: "acme", sessionId, user: "ann" });
      await app.idle();
      const head = await app.deps.store.log.head("acme", sessionId);
      expect(head?.state.lastTurn).toMatchObject({ endReason: "stopped" });
      expect(head?.state.lifecycle.kind).toBe("suspended");
      expect(ran.size).toBeLessThan(1000);
    }
  });
});
