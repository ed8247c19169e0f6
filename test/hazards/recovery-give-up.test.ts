// What kills its process every time, what always takes too long, and code that changed under a session: an end with its
// reason, and no other session touched (H26, H28).
import { type Agent, defineAgent, defineFlow, defineTool, step } from "baton";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { maxRecoveries } from "../../lib/core/limits.ts";
import type { Model } from "../../lib/ports/model.ts";
import { type Embedded, embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { Crash, createFaultyTable } from "../../lib/testing/faulty-table.ts";
import { replayModel } from "../../lib/testing/replay-model.ts";
import { seededIds } from "../../lib/testing/seeded-ids.ts";

function world() {
  const clock = fakeClock();
  const base = createMemoryTable({ now: () => clock.now() });
  const blobs = createMemoryBlobs();
  let processes = 0;
  const life = { killed: false };
  /** A new process; the one before it is dead. */
  const start = (agents: Agent[], model: Model): Embedded => {
    life.killed = false;
    const mine = { killed: false };
    const table = createFaultyTable(base, [{ fault: "death before", on: () => (mine.killed ||= life.killed) }]);
    return embed({ agents, model, table, blobs, clock, ids: seededIds(`process ${++processes}`) });
  };
  return { clock, start, kill: () => (life.killed = true), reader: () => start([], replayModel([])) };
}

const stateOf = async (process: Embedded, sessionId: string) =>
  (await process.deps.store.log.head("acme", sessionId))?.state;

describe("a tool that kills its process every time (H26)", () => {
  const bomb = (kill: () => void, count: () => void) =>
    defineTool({
      name: "bomb",
      description: "kills",
      input: z.object({}),
      effect: "idempotent",
      run: () => {
        count();
        kill();
        throw new Crash("the process is dead");
      },
    });

  it("is given up after three recoveries: suspended with the cause, other sessions untouched, and a new message starts clean", async () => {
    const { start, kill } = world();
    let runs = 0;
    const tools = [bomb(kill, () => void runs++)];
    const bad = defineAgent({ name: "bad", instructions: "x", model: { id: "m" }, tools });
    const good = defineAgent({ name: "good", instructions: "x", model: { id: "m" } });
    const model: Model = {
      reply: (request, options) =>
        replayModel(
          request.tools.some((tool) => tool.name === "bomb")
            ? [{ calls: [{ name: "bomb", input: {} }] }]
            : [{ text: "Fine." }, { text: "Fine again." }],
        ).reply(request, options),
    };
    let process = start([bad, good], model);
    const other = await process.send("hello", { key: "agent:good", agent: "good" });
    await process.idle();
    const before = await process.deps.store.log.events("acme", other.sessionId, 0);
    const { sessionId } = await process.send("go", { key: "agent:bad", agent: "bad" });
    await process.idle();
    const statuses: string[] = [];
    for (let recovery = 1; recovery <= maxRecoveries + 1; recovery++) {
      process = start([bad, good], model);
      await process.boot(`boot-${recovery}`);
      await process.idle();
      const state = await stateOf(start([bad, good], model), sessionId);
      statuses.push(`${state?.lifecycle.kind} ${state?.turn ? "open" : "ended"}`);
    }
    expect(statuses).toEqual([...Array(maxRecoveries).fill("open open"), "suspended ended"]);
    expect(runs).toBe(maxRecoveries + 1);
    process = start([bad, good], model);
    expect((await stateOf(process, sessionId))?.lifecycle).toMatchObject({
      kind: "suspended",
      cause: "gave up after 3 recoveries while running bomb",
    });
    expect(await process.deps.store.log.events("acme", other.sessionId, 0)).toEqual(before);
    const again = await process.send("hello again", { key: "agent:good" });
    await process.idle();
    expect([again.sessionId, (await stateOf(process, again.sessionId))?.lastTurn?.status]).toEqual([
      other.sessionId,
      "completed",
    ]);
    const fresh = await process.send("go", { key: "agent:bad" });
    expect(fresh).toMatchObject({ turn: 1, notice: { reason: "suspended" } });
    expect(fresh.sessionId).not.toBe(sessionId);
  });
});

describe("a step (H28)", () => {
  const failing = (name: string) => {
    let asked = 0;
    const model: Model = {
      reply() {
        asked++;
        return Promise.reject(Object.assign(new Error("secret words of a user"), { name }));
      },
    };
    return { model, asked: () => asked };
  };
  const agent = defineAgent({ name: "a", instructions: "x", model: { id: "m" } });

  it.each([
    ["States.Timeout", 2, "step.timed_out"],
    ["Sandbox.Timedout", 2, "step.timed_out"],
    ["Runtime.ExitError", 2, "step.died"],
  ])("that ends with %s each time is tried twice, then the turn fails with that reason", async (name, tries, code) => {
    const { start } = world();
    const { model, asked } = failing(name);
    const process = start([agent], model);
    const { sessionId } = await process.send("go");
    await process.idle();
    expect(asked()).toBe(tries);
    const events = await process.deps.store.log.events("acme", sessionId, 0);
    expect(events.at(-1)?.event).toMatchObject({ type: "turn.failed", endReason: "error", error: { name, code } });
  });

  it("that ends with an error nobody knows fails closed at once, and its words stay out of the log (G20)", async () => {
    const { start } = world();
    const { model, asked } = failing("Somebody.Elses.Error");
    const process = start([agent], model);
    const { sessionId } = await process.send("go");
    await process.idle();
    expect(asked()).toBe(1);
    const events = await process.deps.store.log.events("acme", sessionId, 0);
    expect(events.at(-1)?.event).toMatchObject({
      type: "turn.failed",
      error: { name: "Somebody.Elses.Error", code: "unexpected" },
    });
    expect(JSON.stringify(events)).not.toContain("secret words");
    const next = await process.send("go on");
    expect(next.sessionId).toBe(sessionId);
    await process.idle();
  });
});

describe("code that changed while a session waits (H28)", () => {
  const State = z.object({ log: z.array(z.string()) });
  type S = z.infer<typeof State>;
  const note = (name: string, run?: () => void) =>
    step(name, (state: S) => {
      run?.();
      return { log: [...state.log, name] };
    });
  const flow = (...steps: ReturnType<typeof note>[]) =>
    defineFlow({ name: "case", state: State, initial: () => ({ log: [] }), steps });

  it("ends the turn with what was expected and what was found: steps that were renamed", async () => {
    const { start, kill } = world();
    const dies = () => {
      kill();
      throw new Crash("dead");
    };
    const first = start([flow(note("fetch"), note("screen"), note("file", dies))], replayModel([]));
    const { sessionId } = await first.send("go");
    await first.idle();
    const second = start([flow(note("fetch"), note("check"), note("file"))], replayModel([]));
    await second.boot("boot");
    await second.idle();
    const events = await second.deps.store.log.events("acme", sessionId, 0);
    expect(events.at(-1)?.event).toMatchObject({
      type: "turn.failed",
      error: {
        name: "AgentChanged",
        message: 'the turn stands at step 3, after "screen"; flow "case" has the steps fetch, check, file now',
      },
    });
  });

  it("ends the turn with what was expected and what was found: an agent that is gone", async () => {
    const { start, kill } = world();
    const dies = () => {
      kill();
      throw new Crash("dead");
    };
    const first = start([flow(note("file", dies))], replayModel([]));
    const { sessionId } = await first.send("go");
    await first.idle();
    const other = defineAgent({ name: "other", instructions: "x", model: { id: "m" } });
    const second = start([other], replayModel([{ text: "Hello." }]));
    await second.boot("boot");
    await second.idle();
    const events = await second.deps.store.log.events("acme", sessionId, 0);
    expect(events.at(-1)?.event).toMatchObject({
      type: "turn.failed",
      error: { name: "AgentChanged", message: 'the session belongs to agent "case"; this runtime has: other' },
    });
    expect(await second.boot("again")).toBeUndefined();
  });
});
