// Limits in money and tokens through the real steps and machine: reserved before each model call, settled after it (G15).
import { defineAgent, defineFlow, defineTool, step } from "baton";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import type { Limits } from "../../lib/core/limits.ts";
import { defaultPrices, worstCostMicros } from "../../lib/core/prices.ts";
import type { Model } from "../../lib/ports/model.ts";
import { settledTurn } from "../../lib/sessions/wait.ts";
import { allCrashPoints } from "../../lib/testing/all-crash-points.ts";
import { type Embedded, embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { type ScriptedModel, scriptedModel } from "../../lib/testing/scripted-model.ts";
import { greedyModel } from "../support/greedy-model.ts";

const look = defineTool({
  name: "look",
  description: "looks",
  input: z.object({ n: z.int() }),
  effect: "read",
  run: ({ n }) => ({ n }),
});

const maxTokens = 1000;
const model = "claude-haiku-4-5";

function agentWith(limits: Partial<Limits>, options: { name?: string; model?: string } = {}) {
  return defineAgent({
    name: options.name ?? "spender",
    instructions: "Spend.",
    model: { id: options.model ?? model, maxTokens },
    tools: [look],
    limits: { roundsPerTurn: 100, ...limits },
  });
}

async function turnOf(embedded: Embedded, text = "go", options: Parameters<Embedded["send"]>[1] = {}) {
  const { sessionId, turn } = await embedded.send(text, options);
  await embedded.idle();
  const end = await settledTurn(embedded.deps, "acme", sessionId, turn);
  return { sessionId, endReason: end?.endReason, answer: end?.answer ?? "" };
}

const budgetWrites = (calls: readonly { op: string; pk?: string; write: number }[]) =>
  calls.filter(({ pk, write }) => write > 0 && pk?.includes("#budget:")).length;

describe("a limit", () => {
  const cases: { limit: Partial<Limits>; unit: "usdMicros" | "tokens"; most: number }[] = [
    { limit: { usdPerSession: 0.05 }, unit: "usdMicros", most: 50_000 },
    { limit: { usdPerUserDay: 0.05 }, unit: "usdMicros", most: 50_000 },
    { limit: { usdPerTenantDay: 0.05 }, unit: "usdMicros", most: 50_000 },
    { limit: { tokensPerSession: 12_000 }, unit: "tokens", most: 12_000 },
    { limit: { tokensPerTenantDay: 12_000 }, unit: "tokens", most: 12_000 },
  ];
  for (const { limit, unit, most } of cases) {
    const [option = ""] = Object.keys(limit);
    it(`${option} ends the turn before the call that would break it, and says how to go on (G15)`, async () => {
      const greedy = greedyModel();
      const embedded = embed({ agents: [agentWith(limit)], model: greedy });
      const { endReason, answer } = await turnOf(embedded);
      expect(endReason).toBe("budget_exceeded");
      expect(answer).toContain("does not allow the next model call");
      expect(answer).toContain(`raise limits.${option}`);
      expect(greedy.charged[unit]).toBeLessThanOrEqual(most);
      // Not earlier than it must: another call like the last one would not have fitted.
      const last = greedy.requests.length;
      expect(last).toBeGreaterThan(3);
      expect(greedy.charged[unit] * ((last + 1) / last)).toBeGreaterThan(most * 0.9);
    });
  }

  it("of 0 is none, and without one no budget is written", async () => {
    const clock = fakeClock();
    const table = createFaultyTable(createMemoryTable({ now: () => clock.now() }));
    const greedy = greedyModel({ rounds: 30 });
    const embedded = embed({ agents: [agentWith({ usdPerSession: 0 })], model: greedy, table, clock });
    expect((await turnOf(embedded)).endReason).toBe("completed");
    expect(budgetWrites(table.calls)).toBe(0);
    expect(table.calls.filter(({ pk, write }) => write > 0 && pk?.includes("#usage:")).length).toBe(1);
  });

  it("of a session is that session's alone; a new one begins anew", async () => {
    const greedy = greedyModel({ rounds: 3 });
    const embedded = embed({ agents: [agentWith({ usdPerSession: 0.026 })], model: greedy });
    expect((await turnOf(embedded)).endReason).toBe("completed");
    expect((await turnOf(embedded, "again", { key: "agent:other" })).endReason).toBe("completed");
  });

  it("of a user's day holds that user in every session, other users not, and ends with the UTC day", async () => {
    const clock = fakeClock({ start: Date.UTC(2026, 10, 30, 23, 0) });
    const greedy = greedyModel();
    const embedded = embed({ agents: [agentWith({ usdPerUserDay: 0.03 })], model: greedy, clock });
    expect((await turnOf(embedded)).endReason).toBe("budget_exceeded");
    const before = greedy.requests.length;
    expect((await turnOf(embedded, "again", { key: "agent:second" })).answer).toContain("one user and day");
    expect(greedy.requests.length).toBe(before);
    expect((await turnOf(embedded, "mine", { key: "agent:bob", user: "bob" })).answer).toContain("one user and day");
    clock.set(Date.UTC(2026, 11, 1, 0, 0));
    expect((await turnOf(embedded, "a new day", { key: "agent:third" })).endReason).toBe("budget_exceeded");
    expect(await embedded.deps.store.budgets.balance("acme", "user:2026-12-01:ann")).toMatchObject({
      reserved: { usdMicros: 0 },
    });
  });

  it("of a tenant's day counts what its other agents spend, and does not hold those (G15)", async () => {
    const greedy = greedyModel({ rounds: 4 });
    const free = agentWith({}, { name: "free" });
    const held = agentWith({ usdPerTenantDay: 0.03 }, { name: "held" });
    const embedded = embed({ agents: [held, free], model: greedy });
    expect((await turnOf(embedded, "go", { key: "agent:free", agent: "free" })).endReason).toBe("completed");
    await expect(embedded.send("go", { key: "agent:held", agent: "held" })).rejects.toThrow("limits.usdPerTenantDay");
    expect((await turnOf(embedded, "go", { key: "agent:free", agent: "free" })).endReason).toBe("completed");
  });

  it("holds a flow's prompts as well", async () => {
    const flow = defineFlow({
      name: "flow",
      state: z.object({ n: z.int() }),
      initial: () => ({ n: 0 }),
      model: { id: model, maxTokens },
      limits: { usdPerSession: 0.008 },
      steps: ["one", "two"].map((name) =>
        step(name, { prompt: () => "write", into: (state: { n: number }) => ({ n: state.n + 1 }) }),
      ),
    });
    const greedy = greedyModel({ rounds: 0 });
    const { endReason } = await turnOf(embed({ agents: [flow], model: greedy }));
    expect([endReason, greedy.requests.length]).toEqual(["budget_exceeded", 1]);
  });
});

describe("a message", () => {
  it("is refused at once when not even the smallest call fits; a repeated one keeps its turn", async () => {
    const embedded = embed({ agents: [agentWith({ usdPerSession: 0.02 })], model: greedyModel() });
    const first = await embedded.send("go", { idempotencyKey: "k1" });
    await embedded.idle();
    await expect(embedded.send("more")).rejects.toMatchObject({ name: "BudgetExceeded", status: 402 });
    expect(await embedded.send("go", { idempotencyKey: "k1" })).toMatchObject({
      messageId: first.messageId,
      turn: first.turn,
    });
  });
});

describe("a model without price", () => {
  it("ends the turn with the reason when the limit is in dollars: at the message, and in an open turn", async () => {
    const embedded = embed({
      agents: [agentWith({ usdPerSession: 1 }, { model: "local-llama" })],
      model: greedyModel(),
    });
    await expect(embedded.send("go")).rejects.toThrow(/"local-llama" has no price.*BATON_PRICES/);
  });

  it("is held by limits in tokens, and by dollars once it has a price", async () => {
    const local = { model: "local-llama" };
    const tokens = embed({ agents: [agentWith({ tokensPerSession: 5000 }, local)], model: greedyModel() });
    expect((await turnOf(tokens)).answer).toContain("limits.tokensPerSession");
    const prices = { ...defaultPrices, "local-llama": { input: 1, output: 5_000_000, cacheWrite: 1, cacheRead: 1 } };
    const greedy = greedyModel({ prices });
    const priced = embed({ agents: [agentWith({ usdPerSession: 0.03 }, local)], model: greedy, prices });
    expect((await turnOf(priced)).endReason).toBe("budget_exceeded");
    expect(greedy.charged.usdMicros).toBeGreaterThan(20_000);
    expect(greedy.charged.usdMicros).toBeLessThanOrEqual(30_000);
  });
});

describe("a failed model call", () => {
  const limit = { usdPerSession: 1 };
  const spent = (embedded: Embedded, sessionId: string) =>
    embedded.deps.store.budgets.balance("acme", `session:${sessionId}`);

  async function failing(scripted: ScriptedModel) {
    const embedded = embed({ agents: [agentWith(limit)], model: scripted });
    const { sessionId, endReason } = await turnOf(embedded);
    const head = await embedded.deps.store.log.head("acme", sessionId);
    const { spent: settled, reserved } = await spent(embedded, sessionId);
    return { endReason, over: settled.usdMicros - (head?.state.usage.usdMicros ?? 0), reserved: reserved.usdMicros };
  }

  it("costs nothing when the provider refused it", async () => {
    const lines = [429, 529, 500, 503].map((fault) => ({ fault }));
    expect(await failing(scriptedModel([...lines, { text: "done" }]))).toEqual({
      endReason: "completed",
      over: 0,
      reserved: 0,
    });
    expect(await failing(scriptedModel([{ fault: 400 }]))).toEqual({ endReason: "error", over: 0, reserved: 0 });
  });

  it("counts at its worst case when it may have been charged: the stream was cut (G15)", async () => {
    const { endReason, over, reserved } = await failing(scriptedModel([{ fault: "cut" }, { text: "done" }]));
    expect([endReason, reserved]).toEqual(["completed", 0]);
    expect(over).toBeGreaterThan(worstCostMicros(model, { inputTokens: 1, maxTokens }));
    expect(over).toBeLessThan(2 * worstCostMicros(model, { inputTokens: 1, maxTokens }));
  });
});

describe("a crash", () => {
  it("between call and receipt counts the call at its worst case, and the same call is made again (G15, G2)", async () => {
    const clock = fakeClock();
    const base = createMemoryTable({ now: () => clock.now() });
    const blobs = createMemoryBlobs();
    const greedy = greedyModel({ rounds: 0 });
    const agents = [agentWith({ usdPerSession: 0.02, usdPerTenantDay: 0.02 })];
    let asked = false;
    const dying = createFaultyTable(base, [
      { fault: "death before", on: ({ op, pk }) => asked && op === "update" && pk?.includes("#budget:") === true },
    ]);
    const watched: Model = {
      reply: async (request) => {
        asked = true;
        return greedy.reply(request);
      },
    };
    const first = embed({ agents, model: watched, table: dying, blobs, clock });
    const { sessionId } = await first.send("go");
    await first.idle();
    expect(dying.dead).toBe(true);
    await first.stop(0).catch(() => {});
    const second = embed({ agents, model: greedy, table: base, blobs, clock });
    await second.boot();
    await second.idle();
    expect(await settledTurn(second.deps, "acme", sessionId, 1)).toMatchObject({ endReason: "completed" });
    expect(greedy.requests.length).toBe(2);
    for (const scope of [`session:${sessionId}`, "tenant:2026-11-30"]) {
      const { spent, reserved } = await second.deps.store.budgets.balance("acme", scope);
      expect(reserved).toEqual({ usdMicros: 0, tokens: 0 });
      expect(spent.usdMicros).toBeGreaterThanOrEqual(greedy.charged.usdMicros);
      expect(spent.usdMicros).toBeLessThan(greedy.charged.usdMicros * 1.2);
    }
  });

  it("at any write changes nothing of what a limited session does (G3)", { timeout: 60_000 }, async () => {
    const agent = agentWith({ usdPerSession: 1, usdPerUserDay: 1, usdPerTenantDay: 1 });
    const script = [{ calls: [{ name: "look", input: { n: 1 } }] }, { text: "done" }];
    const { tried, differing } = await allCrashPoints(agent, script);
    expect(tried).toBeGreaterThan(80);
    expect(differing).toEqual([]);
  });
});
