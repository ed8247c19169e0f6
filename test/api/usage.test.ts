// GET /v1/usage and the 402 of a budget, as a client of the API sees them.
import { defineAgent } from "baton";
import { describe, expect, it } from "vitest";
import { createApi } from "../../lib/api/create-api.ts";
import { embed } from "../../lib/testing/embed.ts";
import { greedyModel } from "../support/greedy-model.ts";
import { authenticate } from "./api-fixture.ts";

function world() {
  const limits = { usdPerSession: 0.008 };
  const model = { id: "claude-haiku-4-5", maxTokens: 1000 };
  const agents = [defineAgent({ name: "spender", instructions: "x", model, limits })];
  const greedy = greedyModel({ rounds: 0 });
  const embedded = embed({ agents, model: greedy });
  const api = createApi({ deps: embedded.deps, authenticate, info: { version: "0", model: "none" } });
  const ask = (path: string, init: RequestInit & { token?: string; json?: unknown } = {}) => {
    const { token = "acme/ann", json, ...rest } = init;
    const headers = new Headers({ Authorization: `Bearer ${token}`, ...(rest.headers as Record<string, string>) });
    const body = json === undefined ? {} : { body: JSON.stringify(json), method: "POST" };
    return api.fetch(new Request(`http://baton.test${path}`, { ...rest, headers, ...body }));
  };
  return { embedded, greedy, ask };
}

describe("GET /v1/usage", () => {
  it("is the tenant's day: total, sessions and models", async () => {
    const { embedded, greedy, ask } = world();
    await ask("/v1/messages", { json: { key: "k", text: "go" } });
    await embedded.idle();
    const { usdMicros } = greedy.charged;
    const response = await ask("/v1/usage?day=2026-11-30");
    expect(response.status).toBe(200);
    const spent = {
      inputTokens: greedy.charged.tokens - 1000,
      outputTokens: 1000,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      usd: `0.${String(usdMicros).padStart(6, "0")}`,
      usdMicros,
    };
    const session = { sessionId: expect.any(String), key: "k", user: "ann", agent: "spender" };
    const report = await response.json();
    expect(report).toEqual({
      day: "2026-11-30",
      total: spent,
      sessions: [{ ...session, ...spent }],
      omittedSessions: 0,
      models: [{ model: "claude-haiku-4-5", ...spent }],
    });
    expect(await (await ask("/v1/usage")).json()).toEqual(report);
    const foreign = await (await ask("/v1/usage", { token: "globex/eve" })).json();
    expect(foreign).toMatchObject({ total: { usdMicros: 0 }, sessions: [], models: [] });
  });

  it("refuses what is no day, and fields it does not know", async () => {
    const { ask } = world();
    const statuses = ["day=2026-02-30", "day=today", "day=", "days=2026-11-30", "day=2026-11-30&day=x"].map(
      async (query) => (await ask(`/v1/usage?${query}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([400, 400, 400, 400, 400]);
  });
});

describe("POST /v1/messages over budget", () => {
  it("is 402 with the limit and the mend, and a repeat of an accepted request is not", async () => {
    const { embedded, ask } = world();
    const first = { json: { key: "k", text: "go" }, headers: { "Idempotency-Key": "1" } };
    const accepted = await (await ask("/v1/messages", first)).json();
    await embedded.idle();
    const refused = await ask("/v1/messages", { json: { key: "k", text: "more" } });
    expect(refused.status).toBe(402);
    expect(await refused.json()).toMatchObject({
      code: "budget.exceeded",
      detail: expect.stringContaining("raise limits.usdPerSession"),
    });
    const again = await ask("/v1/messages", first);
    expect([again.status, await again.json()]).toEqual([202, expect.objectContaining({ turn: 1 })]);
    expect(accepted).toMatchObject({ turn: 1 });
    // A new conversation has a budget of its own.
    expect((await ask("/v1/messages", { json: { key: "k2", text: "go" } })).status).toBe(202);
    await embedded.idle();
  });
});
