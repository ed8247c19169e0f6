import { describe, expect, it } from "vitest";
import { BudgetExceeded, ModelOverloaded, ModelRejected } from "../../lib/core/errors.ts";
import { extractionOpening } from "../../lib/core/memory/extraction.ts";
import { rememberSession, rememberTurn } from "../../lib/memory/remember.ts";
import { sweepMemory } from "../../lib/memory/sweep-memory.ts";
import { usageOfDay } from "../../lib/sessions/usage.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { advance, ann, found, known, learnt, memoryWorld, whole } from "../support/memory-world.ts";

const minute = 60_000;

describe("remember", () => {
  it("keeps what the user said, with its source, after the turn and without its answer waiting", async () => {
    const world = memoryWorld();
    const { sessionId, turn } = await world.say("I am a vegetarian. What is for dinner?");
    expect(await world.facts()).toEqual([
      expect.objectContaining({
        text: "I am a vegetarian.",
        kind: "preference",
        origin: "user",
        source: { sessionId, turn },
        revision: 1,
      }),
    ]);
    const log = await world.app.deps.store.log.events("acme", sessionId, 0);
    const types = log.map(({ event }) => event.type);
    expect(types.indexOf("turn.finished")).toBeLessThan(types.indexOf("memory.updated"));
  });

  it("is off unless it is asked for: no question to a model, no fact, nothing shown", async () => {
    const world = memoryWorld({ memory: { enabled: false } });
    const { sessionId } = await world.say("I am a vegetarian.");
    await world.app.deps.store.facts.add(ann, { ...known, id: "0".repeat(20) });
    await world.say("What do I eat?");
    expect(world.questions).toEqual([]);
    expect(await learnt(world, sessionId)).toEqual([]);
    expect(whole(world.turns.at(-1))).not.toContain(known.text);
  });

  it("shows the model of memory the user's sentences and known facts, and nothing of answers or tools (G18)", async () => {
    const world = memoryWorld({ memory: { enabled: true, model: "finder" } });
    await world.say("I am a vegetarian.");
    await world.say("I live in Berlin.");
    const [, second] = world.questions;
    expect(second?.model).toBe("finder");
    expect(whole(second)).toContain("I live in Berlin.");
    expect(whole(second)).toContain("I am a vegetarian.");
    expect(whole(second)).not.toContain("Done.");
    expect(second?.tools).toEqual([]);
  });

  it("uses the summarizer unless it is told another model", async () => {
    const world = memoryWorld({ more: { model: { id: "m", summarizer: "small" } } });
    await world.say("I am a vegetarian.");
    expect(world.questions.map(({ model }) => model)).toEqual(["small"]);
  });

  it("updates: the old fact ends, both stay, the newest is shown", async () => {
    const world = memoryWorld();
    await world.say("I live in Berlin.");
    await advance(world, minute);
    world.find(() => found({ sentences: [1], replaces: [1] }));
    await world.say("I moved to Munich.");
    const facts = await world.facts();
    expect(facts.map(({ text, validTo }) => [text, validTo !== undefined]).toSorted()).toEqual([
      ["I live in Berlin.", true],
      ["I moved to Munich.", false],
    ]);
    const [old, fresh] = facts.toSorted((a, b) => a.validFrom - b.validFrom);
    expect(old).toMatchObject({ validTo: fresh?.validFrom, replacedBy: fresh?.id });
    await world.say("Where do I live?", { key: "agent:other" });
    expect(whole(world.turns.at(-1))).toContain("I moved to Munich.");
    expect(whole(world.turns.at(-1))).not.toContain("I live in Berlin.");
  });

  it("refuses near duplicates, from any session", async () => {
    const world = memoryWorld();
    await world.say("I live in Berlin.");
    const { sessionId } = await world.say("Remember: I live in Berlin!", { key: "agent:other" });
    expect(await world.texts()).toEqual(["I live in Berlin."]);
    expect(await learnt(world, sessionId)).toMatchObject([{ added: [], refused: ["known"] }]);
  });

  it("honours maxFacts: the oldest ends", async () => {
    const world = memoryWorld({ memory: { enabled: true, maxFacts: 2 } });
    for (const text of ["I like A1.", "I like B2.", "I like C3."]) {
      await world.say(text);
      await advance(world, minute);
    }
    expect(await world.texts()).toEqual(["I like B2.", "I like C3."]);
  });

  it("asks nothing about a turn without a sentence of its user", async () => {
    const world = memoryWorld();
    const { sessionId } = await world.say("> I am a vegetarian.");
    expect(world.questions).toEqual([]);
    expect(await world.app.deps.store.lessons.turns("acme", sessionId)).toEqual([]);
  });

  it("counts what it costs in the session, the day and its budgets", async () => {
    const model = { id: "claude-haiku-4-5", maxTokens: 1000 };
    const world = memoryWorld({ more: { model, limits: { usdPerTenantDay: 100 } } });
    const { sessionId } = await world.say("I am a vegetarian.");
    const { deps } = world.app;
    const [event] = await learnt(world, sessionId);
    expect(event?.usdMicros).toBeGreaterThan(0);
    const head = await deps.store.log.head("acme", sessionId);
    const { usdMicros = 0 } = head?.state.usage ?? {};
    // The answer and the question cost the same in this world.
    expect(usdMicros).toBe(2 * (event?.usdMicros ?? 0));
    const { total } = await usageOfDay(deps, "acme");
    expect(total.usdMicros).toBe(usdMicros);
    const day = new Date(deps.clock.now()).toISOString().slice(0, 10);
    expect(await deps.store.budgets.balance("acme", `tenant:${day}`)).toMatchObject({
      spent: { usdMicros },
      reserved: { usdMicros: 0, tokens: 0 },
    });
  });

  it("makes no call that a budget does not allow, and says so (G15)", async () => {
    // Enough for one worst case, so for the turn and no second call after it.
    const model = { id: "m", maxTokens: 200 };
    const world = memoryWorld({ more: { model, limits: { tokensPerSession: 1200 } } });
    const { sessionId } = await world.say("I am a vegetarian.");
    expect(world.turns).toHaveLength(1);
    expect(world.questions).toEqual([]);
    expect(await learnt(world, sessionId)).toMatchObject([{ refused: [BudgetExceeded.kind.code], usdMicros: 0 }]);
    expect(await world.facts()).toEqual([]);
  });

  it("tries again after a passing fault, later and not for ever", async () => {
    const world = memoryWorld();
    world.find(() => new ModelOverloaded("busy"));
    const { sessionId } = await world.say("I am a vegetarian.");
    expect(await sweepMemory(world.app.deps, { before: world.app.clock.now() })).toEqual({});
    for (const wait of [1, 5, 30]) {
      await advance(world, wait * minute);
      expect(await sweepMemory(world.app.deps, { before: world.app.clock.now() })).toEqual({ retry: 1 });
    }
    await advance(world, 120 * minute);
    expect(await sweepMemory(world.app.deps, { before: world.app.clock.now() })).toEqual({ nothing: 1 });
    expect(world.questions).toHaveLength(5);
    expect(await learnt(world, sessionId)).toMatchObject([{ refused: ["model.overloaded"] }]);
  });

  it("learns in a later try", async () => {
    const world = memoryWorld();
    world.find(() => new ModelOverloaded("busy"));
    await world.say("I am a vegetarian.");
    world.find(() => found({ sentences: [1] }));
    await advance(world, minute);
    expect(await sweepMemory(world.app.deps, { before: world.app.clock.now() })).toEqual({ learnt: 1 });
    expect(await world.texts()).toEqual(["I am a vegetarian."]);
  });

  it("does not repeat what the model refuses for good, nor an answer that is of no use", async () => {
    const world = memoryWorld();
    world.find(() => new ModelRejected("no"));
    const first = await world.say("I am a vegetarian.");
    world.find(() => "You are a vegetarian.");
    const second = await world.say("I am one.", { key: "agent:other" });
    expect(await learnt(world, first.sessionId)).toMatchObject([{ refused: ["model.rejected"] }]);
    expect(await learnt(world, second.sessionId)).toMatchObject([
      { refused: ["invalid_answer"], usage: { inputTokens: 100 } },
    ]);
    expect(world.questions).toHaveLength(2);
  });

  it("gives up a model that hangs after a minute (H48)", async () => {
    const clock = fakeClock();
    const asked = Promise.withResolvers<void>();
    const world = memoryWorld({
      clock,
      model: {
        reply: (request, how) => {
          const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
          const reply = {
            model: "m",
            content: [{ type: "text" as const, text: "Done." }],
            stop: "end_turn" as const,
            usage,
          };
          if (!request.system[0]?.text.startsWith(extractionOpening)) return Promise.resolve(reply);
          asked.resolve();
          return new Promise((_, reject) => how?.signal?.addEventListener("abort", () => reject(how.signal?.reason)));
        },
      },
    });
    const { sessionId } = await world.app.send("I am a vegetarian.");
    await asked.promise;
    await clock.advance(minute);
    await world.app.idle();
    expect(await world.app.deps.store.lessons.get({ tenant: "acme", sessionId, turn: 1 })).toMatchObject({
      attempts: 1,
    });
  });

  it("keeps nothing of a turn that was rolled back before it was looked at", async () => {
    const world = memoryWorld();
    world.find(() => new ModelOverloaded("busy"));
    const { sessionId } = await world.say("I am a vegetarian.");
    await world.say("/undo");
    world.find(() => found({ sentences: [1] }));
    await advance(world, 5 * minute);
    await sweepMemory(world.app.deps, { before: world.app.clock.now() });
    expect(await world.facts()).toEqual([]);
    expect(await world.app.deps.store.lessons.turns("acme", sessionId)).toEqual([]);
  });

  it("learns from a session that was closed meanwhile", async () => {
    const world = memoryWorld();
    world.find(() => new ModelOverloaded("busy"));
    const { sessionId } = await world.say("I am a vegetarian.");
    await world.say("/new");
    world.find(() => found({ sentences: [1] }));
    await advance(world, 5 * minute);
    expect(await sweepMemory(world.app.deps, { before: world.app.clock.now() })).toEqual({ learnt: 1 });
    expect(await learnt(world, sessionId)).toHaveLength(1);
  });

  it("is not begun for a turn that is open, and done once for one that has ended", async () => {
    const world = memoryWorld();
    const { sessionId } = await world.say("I am a vegetarian.");
    const at = { tenant: "acme", sessionId };
    await world.app.deps.store.lessons.expect({ ...at, turn: 2 }, world.app.clock.now());
    expect(await rememberTurn(world.app.deps, { ...at, turn: 2 })).toBe("unfinished");
    // A stalled process that marks a turn again after all is done.
    await world.app.deps.store.lessons.expect({ ...at, turn: 1 }, world.app.clock.now());
    expect(await rememberTurn(world.app.deps, { ...at, turn: 1 })).toBe("gone");
    expect(world.questions).toHaveLength(1);
  });

  it("asks the model once when two look at the same turn (H12)", async () => {
    const world = memoryWorld();
    world.find(() => new ModelOverloaded("busy"));
    const { sessionId } = await world.say("I am a vegetarian.");
    world.find(() => found({ sentences: [1] }));
    await advance(world, minute);
    const both = await Promise.all([1, 2].map(() => rememberSession(world.app.deps, { tenant: "acme", sessionId })));
    expect(both.flat().toSorted()).toEqual(["learnt", "taken"]);
    expect(world.questions).toHaveLength(2);
    expect(await learnt(world, sessionId)).toHaveLength(1);
  });

  it("brings back no fact that the user has deleted meanwhile", async () => {
    const world = memoryWorld();
    const { sessionId } = await world.say("I am a vegetarian.");
    const [fact] = await world.facts();
    const at = { tenant: "acme", sessionId, turn: 1 };
    const { lessons, facts } = world.app.deps.store;
    const [event] = await learnt(world, sessionId);
    // As if the process had died between the last two writes.
    await lessons.expect(at, world.app.clock.now());
    const lesson = await lessons.get(at);
    if (!fact || !event || !lesson) return expect.unreachable();
    await lessons.decide(at, lesson, { add: [fact], close: [], event });
    await facts.remove(ann, fact.id);
    await rememberTurn(world.app.deps, at);
    expect(await world.facts()).toEqual([]);
    expect(await learnt(world, sessionId)).toHaveLength(1);
  });
});
