// Facts compared by meaning: which are found, what is asked and paid for, and what happens when embeddings fail.
import { defineAgent, defineTool } from "baton";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { noUsage } from "../../lib/core/content.ts";
import { BudgetExceeded, ModelAuthFailed, ModelRateLimited, ModelUnavailable } from "../../lib/core/errors.ts";
import type { EventOf } from "../../lib/core/event.ts";
import { costMicros } from "../../lib/core/prices.ts";
import { buildRuntime } from "../../lib/local/build-runtime.ts";
import type { Log } from "../../lib/ports/clock.ts";
import { usageOfDay } from "../../lib/sessions/usage.ts";
import { silentLog } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { scriptedModel } from "../../lib/testing/scripted-model.ts";
import { type ConceptEmbeddings, conceptEmbeddings } from "../support/concepts.ts";
import {
  advance,
  ann,
  bob,
  found,
  known,
  learnt,
  type MemoryWorld,
  memoryWorld,
  whole,
} from "../support/memory-world.ts";

const titan = "amazon.titan-embed-text-v2:0";
const similarity = "embeddings";
const memory = { enabled: true, similarity } as const;
/** So small that about ten facts fit. */
const model = { id: "claude-haiku-4-5", maxTokens: 500, windowTokens: 4000 };
const minute = 60_000;
const cello = "My sister plays violoncello, has done so since she was eleven years old, and mostly by heart.";
/** No word of it stands in the fact. */
const question = "Does anybody in the family make music?";

type World = MemoryWorld & { embeddings: ConceptEmbeddings };

function meaningWorld(options: Parameters<typeof memoryWorld>[0] = {}): World {
  const embeddings = (options.embeddings as ConceptEmbeddings | undefined) ?? conceptEmbeddings();
  const { more, ...rest } = options;
  const world = memoryWorld({ memory, embeddings, ...rest, more: { model, ...more } });
  world.find(() => found());
  return { ...world, embeddings };
}

/** Twenty-nine facts that say little, and an older one about music: as many as the model that learns is shown. */
async function furnish(world: World, scope = ann, text = cello): Promise<void> {
  const { facts } = world.app.deps.store;
  const room = (n: number) => `My item ${n} is in room ${n}00.`;
  for (let n = 0; n < 29; n++)
    await facts.add(scope, { ...known, id: String(n).padStart(20, "0"), text: room(n), validFrom: 10 });
  await facts.add(scope, { ...known, id: "f".repeat(20), text, validFrom: 1 });
}

async function recalled(world: World, sessionId: string, tenant = "acme"): Promise<EventOf<"memory.recalled">[]> {
  const events = await world.app.deps.store.log.events(tenant, sessionId, 0);
  return events.flatMap(({ event }) => (event.type === "memory.recalled" ? [event] : []));
}

const shownCello = (world: World) => whole(world.turns.at(-1)).includes("violoncello");

describe("facts by meaning", () => {
  it("finds what words do not, and what words do", async () => {
    const byWords = meaningWorld({ memory: { enabled: true } });
    await furnish(byWords);
    await byWords.say(question);
    expect(shownCello(byWords)).toBe(false);
    expect(byWords.embeddings.calls).toEqual([]);

    const world = meaningWorld();
    await furnish(world);
    const { sessionId } = await world.say(question);
    expect(shownCello(world)).toBe(true);
    expect(whole(world.turns.at(-1)).split("is in room").length - 1).toBeLessThan(10);
    const [event] = await recalled(world, sessionId);
    expect(event).toMatchObject({ turn: 1, model: titan, shown: expect.arrayContaining(["f".repeat(20)]) });
    expect(event).not.toHaveProperty("fallback");

    await world.say("And what about 17?");
    expect(whole(world.turns.at(-1))).toContain("My item 17 is in room 1700.");
  });

  it("asks for nothing while all facts fit, or when there is no word to compare with", async () => {
    const world = meaningWorld();
    await world.app.deps.store.facts.add(ann, { ...known, id: "f".repeat(20), text: cello });
    const { sessionId } = await world.say(question);
    expect(shownCello(world)).toBe(true);
    await furnish(world);
    const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
    await world.say("", { content: [image] });
    expect([world.embeddings.calls, await recalled(world, sessionId)]).toEqual([[], []]);
  });

  it("asks once a turn: every call of it begins with the same bytes", async () => {
    const look = defineTool({
      name: "look",
      description: "looks",
      input: z.object({ n: z.int() }),
      effect: "read",
      run: ({ n }) => ({ n }),
    });
    const calls = (n: number) => ({ calls: [{ name: "look", input: { n } }] });
    const script = scriptedModel([calls(1), calls(2), { text: "Done." }, { text: found() }]);
    const world = meaningWorld({ model: script, more: { tools: [look] } });
    await furnish(world);
    const { sessionId } = await world.say(question);
    const [first, ...others] = script.requests.slice(0, 3).map(({ system, messages }) => [system, messages[0]]);
    expect(JSON.stringify(first)).toContain("violoncello");
    expect(others).toEqual([first, first]);
    expect(world.embeddings.calls).toHaveLength(1);
    expect(await recalled(world, sessionId)).toHaveLength(1);
  });

  it("makes each vector once, anew after a correction or for another model, and a few at a time", async () => {
    const world = meaningWorld();
    await furnish(world);
    await world.say(question);
    await world.say(question);
    expect(world.embeddings.calls.map((texts) => texts.length)).toEqual([31, 1]);

    const id = "f".repeat(20);
    const better = "My brother is in an orchestra.";
    await world.ask(`/v1/facts/${id}`, { method: "PATCH", json: { text: better } });
    await advance(world, minute);
    await world.say(question);
    expect(world.embeddings.calls.at(-1)).toEqual([question, better]);

    const { table, blobs, clock } = world.app;
    const other = meaningWorld({ table, blobs, clock, embeddings: conceptEmbeddings({ model: "another" }) });
    const { facts } = other.app.deps.store;
    for (let n = 30; n < 80; n++)
      await facts.add(ann, { ...known, id: String(n).padStart(20, "0"), text: `My item ${n}.`, validFrom: 20 });
    await advance(other, minute);
    // The newest fifty for the turn; the thirty that are older when it is learnt from; nothing is left for the next.
    await other.say(question);
    await other.say(question);
    expect(other.embeddings.calls.map((texts) => texts.length)).toEqual([51, 31, 1, 1]);
  });

  it("shows no vector outside", async () => {
    const world = meaningWorld();
    await furnish(world);
    await world.say(question);
    const answer = await (await world.ask("/v1/facts")).json();
    expect(answer).toMatchObject({ items: expect.arrayContaining([expect.objectContaining({ text: cello })]) });
    expect(JSON.stringify(answer)).not.toMatch(/vector|packed/);
  });
});

describe("learning by meaning", () => {
  it("shows the model the nearest facts, and keeps the vector of a new one", async () => {
    const world = meaningWorld();
    await furnish(world);
    const { facts: stored } = world.app.deps.store;
    await stored.add(ann, { ...known, id: "e".repeat(20), text: "My item 30 is in room 3000.", validFrom: 20 });
    world.find(({ known: facts }) => found({ sentences: [1], replaces: [facts.indexOf(cello) + 1] }));
    const said = "Nobody in the family makes music any more.";
    const { sessionId } = await world.say(said);
    const facts = await world.facts();
    const fresh = facts.find(({ text }) => text === said);
    expect(facts.find(({ text }) => text === cello)).toMatchObject({ replacedBy: fresh?.id });
    expect(fresh?.vector).toMatchObject({ model: titan });
    // For the turn (all vectors), for the nearest (the question only), for the new fact.
    expect(world.embeddings.calls.map((texts) => texts.length)).toEqual([32, 1, 1]);
    const [event] = await learnt(world, sessionId);
    expect(event?.embeddings).toMatchObject({ model: titan, usage: { inputTokens: 2 * said.length } });
  });

  it("learns without embeddings when they fail; the vector is made when it is needed", async () => {
    const world = meaningWorld();
    world.find(() => found({ sentences: [1] }));
    world.embeddings.fail(new ModelUnavailable("down"));
    const { sessionId } = await world.say("I am a vegetarian.");
    const [fact] = await world.facts();
    expect(fact).toMatchObject({ text: "I am a vegetarian." });
    expect(fact).not.toHaveProperty("vector");
    expect(await learnt(world, sessionId)).toMatchObject([{ added: [fact?.id], refused: [] }]);
    world.find(() => found());
    await furnish(world);
    await advance(world, minute);
    await world.say("What shall I cook for dinner?");
    expect(whole(world.turns.at(-1))).toContain("I am a vegetarian.");
    expect((await world.facts()).every(({ vector }) => vector?.model === titan)).toBe(true);
  });
});

describe("embeddings that fail", () => {
  const failures = [
    { error: new ModelUnavailable("down"), code: "model.unavailable" },
    { error: new ModelAuthFailed("no"), code: "model.auth_failed" },
    { error: new TypeError("somebody's mistake"), code: "unexpected" },
  ];
  for (const { error, code } of failures) {
    it(`leave the choice to words and say so, ${code}; the turn goes on, and the next one tries again`, async () => {
      const lines: string[] = [];
      const log: Log = {
        ...silentLog,
        warn: (message, fields) => void lines.push(`${message} ${JSON.stringify(fields)}`),
      };
      const world = meaningWorld({ log });
      await furnish(world);
      world.embeddings.fail(error);
      const { sessionId } = await world.say(`${question} Item 17?`);
      expect(whole(world.turns.at(-1))).toContain("My item 17 is in room 1700.");
      expect(await recalled(world, sessionId)).toMatchObject([{ fallback: code, usdMicros: 0 }]);
      expect(lines).toEqual([
        `long-term memory: no embeddings; facts are compared by their words ${JSON.stringify({ tenant: "acme", sessionId, code })}`,
      ]);
      await world.say(question);
      expect(shownCello(world)).toBe(true);
    });
  }

  it("close the tenant's limiter for this model when they are throttled, and nothing else", async () => {
    const world = meaningWorld();
    await furnish(world);
    world.embeddings.fail(new ModelRateLimited("slow down", { retryAfterMs: 30_000 }));
    const { sessionId } = await world.say(question);
    await world.say(question);
    expect(world.embeddings.calls).toHaveLength(1);
    expect((await recalled(world, sessionId)).map(({ fallback }) => fallback)).toEqual(
      Array(2).fill("model.rate_limited"),
    );
    expect(world.turns).toHaveLength(2);
    await advance(world, minute);
    await world.say(question);
    expect(shownCello(world)).toBe(true);
  });

  it("are given up after ten seconds (H48)", async () => {
    const clock = fakeClock();
    const asked = Promise.withResolvers<void>();
    const hanging: ConceptEmbeddings = {
      ...conceptEmbeddings(),
      embed: (_texts, { signal } = {}) => {
        asked.resolve();
        return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      },
    };
    const world = meaningWorld({ clock, embeddings: hanging });
    await furnish(world);
    const { sessionId } = await world.app.send(question);
    await asked.promise;
    await clock.advance(10_000);
    await world.app.idle();
    expect(await recalled(world, sessionId)).toMatchObject([{ fallback: "model.unavailable" }]);
    expect(world.turns).toHaveLength(1);
  });
});

describe("what embeddings cost", () => {
  const limits = { usdPerTenantDay: 100, tokensPerTenantDay: 1_000_000 };
  const day = (world: World) => new Date(world.app.clock.now()).toISOString().slice(0, 10);
  const balance = (world: World) => world.app.deps.store.budgets.balance("acme", `tenant:${day(world)}`);

  it("counts in the turn, the session, the day by model, and every budget", async () => {
    const world = meaningWorld({ more: { limits } });
    await furnish(world);
    world.find(() => found({ sentences: [1] }));
    const { sessionId } = await world.say("My brother is in an orchestra.");
    const [recall] = await recalled(world, sessionId);
    const [lesson] = await learnt(world, sessionId);
    const bytes = (texts: string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const [first, ...others] = world.embeddings.calls.map(bytes);
    expect(recall).toMatchObject({
      usage: { inputTokens: first },
      usdMicros: costMicros(titan, { ...noUsage, inputTokens: first ?? 0 }),
    });
    expect(recall?.usdMicros).toBeGreaterThan(0);
    expect(lesson?.embeddings?.usage.inputTokens).toBe(others.reduce((sum, tokens) => sum + tokens, 0));

    const head = await world.app.deps.store.log.head("acme", sessionId);
    const { total, models } = await usageOfDay(world.app.deps, "acme");
    const mine = models.find((one) => one.model === titan);
    const micros = (recall?.usdMicros ?? 0) + (lesson?.embeddings?.usdMicros ?? 0);
    expect(mine).toMatchObject({
      usdMicros: micros,
      inputTokens: world.embeddings.calls.map(bytes).reduce((a, b) => a + b, 0),
    });
    expect(total.usdMicros).toBe(head?.state.usage.usdMicros);
    expect(await balance(world)).toEqual({
      spent: { usdMicros: total.usdMicros, tokens: total.inputTokens + total.outputTokens },
      reserved: { usdMicros: 0, tokens: 0 },
    });
    const tree = await (await world.ask(`/v1/sessions/${sessionId}`)).json();
    const reply = 100 + (recall?.usage.inputTokens ?? 0);
    expect(tree).toMatchObject({ turns: [{ usage: { inputTokens: reply } }] });
  });

  it("is never over a limit: what does not fit is not asked, and words choose (G15)", async () => {
    // Room for the reply at its worst, not for the vectors of thirty facts beside it.
    const world = meaningWorld({ more: { limits: { tokensPerSession: 3000 }, model: { ...model, maxTokens: 100 } } });
    await furnish(world);
    const long = `${question} ${"And more words. ".repeat(150)}`;
    const { sessionId } = await world.say(long);
    expect(world.embeddings.calls).toEqual([]);
    expect(await recalled(world, sessionId)).toMatchObject([{ fallback: BudgetExceeded.kind.code, usdMicros: 0 }]);
    expect(world.turns).toHaveLength(1);
  });

  it("stands at its worst when the failed call may have been charged, and at nothing when it was surely not (G15)", async () => {
    const unsure = meaningWorld({ more: { limits }, memory: { ...memory, maxFacts: 200 } });
    const sure = meaningWorld({ more: { limits } });
    for (const world of [unsure, sure]) await furnish(world);
    unsure.embeddings.fail(new ModelUnavailable("cut"));
    sure.embeddings.fail(Object.assign(new ModelUnavailable("no such host"), { uncharged: true }));
    await unsure.say("Music?");
    await sure.say("Music?");
    const [worst, none] = await Promise.all([balance(unsure), balance(sure)]);
    const texts = unsure.embeddings.calls[0] ?? [];
    const most = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 2, 0);
    expect(worst.spent.tokens - none.spent.tokens).toBe(most);
    expect([worst.reserved.tokens, none.reserved.tokens]).toEqual([0, 0]);
  });

  it("needs a price where a limit is in dollars (G15)", async () => {
    const world = meaningWorld({ more: { limits }, embeddings: conceptEmbeddings({ model: "homemade" }) });
    await furnish(world);
    const { sessionId } = await world.say(question);
    expect(world.embeddings.calls).toEqual([]);
    expect(await recalled(world, sessionId)).toMatchObject([{ fallback: "budget.exceeded" }]);
  });
});

describe("the scope of embeddings", () => {
  it("is one user of one tenant: nobody else's facts are sent, ranked or shown (G18, H80)", async () => {
    const world = meaningWorld();
    const namesake = { tenant: "globex", user: "ann" };
    await furnish(world);
    await furnish(world, bob, "My sister plays the drums; music of bob.");
    await furnish(world, namesake, "My sister plays the harp; music of globex.");
    for (const [scope, key] of [
      [bob, "agent:bob"],
      [namesake, "agent:globex"],
      [ann, "agent:ann"],
    ] as const) {
      const before = world.embeddings.calls.length;
      await world.say(question, { ...scope, key });
      const sent = JSON.stringify(world.embeddings.calls.slice(before));
      const told = whole(world.turns.at(-1));
      const words = { violoncello: scope === ann, drums: scope === bob, harp: scope === namesake };
      for (const [word, mine] of Object.entries(words))
        expect([word, sent.includes(word), told.includes(word)]).toEqual([word, mine, mine]);
    }
  });

  it("is asked for nothing when somebody else, or a task, writes in the session (G18, H80)", async () => {
    const world = meaningWorld();
    await furnish(world);
    await world.say(question);
    const before = world.embeddings.calls.length;
    await world.say(question, bob);
    await world.say(question, { via: "task", key: "agent:task" });
    expect(world.embeddings.calls).toHaveLength(before);
    expect(shownCello(world)).toBe(false);
  });
});

describe("a runtime without embeddings", () => {
  const agentWith = (enabled: boolean) =>
    defineAgent({ name: "talker", instructions: "Talk.", model: { id: "m" }, memory: { enabled, similarity } });
  const start = (enabled: boolean) => {
    const clock = fakeClock();
    const table = createMemoryTable({ now: () => clock.now() });
    const agents = new Map([["talker", agentWith(enabled)]]);
    return () =>
      buildRuntime({ agents, model: scriptedModel([]), table, blobs: createMemoryBlobs(), clock, log: silentLog });
  };

  it("does not start with an agent that needs them, and says what to do", () => {
    expect(start(true)).toThrow(
      /agent "talker" has memory\.similarity "embeddings", and this runtime has none: set BATON_EMBEDDINGS=bedrock/,
    );
    expect(start(false)).not.toThrow();
  });

  it("is what agents need unless they say otherwise", () => {
    const plain = defineAgent({ name: "plain", instructions: "Talk.", model: { id: "m" }, memory: { enabled: true } });
    expect(plain.memory.similarity).toBe("lexical");
    const wrong = {
      name: "x",
      instructions: "x",
      model: { id: "m" },
      memory: { enabled: true, similarity: "vectors" },
    };
    expect(() => defineAgent(wrong as never)).toThrow("memory.similarity");
  });
});
