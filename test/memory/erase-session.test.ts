import { describe, expect, it } from "vitest";
import { ModelOverloaded } from "../../lib/core/errors.ts";
import { sweepMemory } from "../../lib/memory/sweep-memory.ts";
import { listSessions } from "../../lib/sessions/list.ts";
import { eraseSession } from "../../lib/sessions/transfer/erase-session.ts";
import { advance, memoryWorld } from "../support/memory-world.ts";

const minute = 60_000;

describe("erasing a session", () => {
  it("leaves the facts that it has taught", async () => {
    const world = memoryWorld();
    const { sessionId } = await world.say("I am a vegetarian.");
    await eraseSession(world.app.deps, "acme", sessionId);
    expect(await world.texts()).toEqual(["I am a vegetarian."]);
    expect((await listSessions(world.app.deps, "acme", { limit: 10 })).items).toEqual([]);
  });

  it("ends what has not been learnt, and waits for what is being learnt", async () => {
    const world = memoryWorld();
    world.find(() => new ModelOverloaded("busy"));
    const { sessionId } = await world.say("I am a vegetarian.");
    const { lessons } = world.app.deps.store;
    const at = { tenant: "acme", sessionId, turn: 1 };
    const lesson = await lessons.get(at);
    if (!lesson) return expect.unreachable();
    const claimed = await lessons.claim(at, lesson, world.app.clock.now() + minute);
    await expect(eraseSession(world.app.deps, "acme", sessionId)).rejects.toThrow("long-term memory is learning");
    if (claimed !== "refused") await lessons.lookAgain(at, claimed, { due: world.app.clock.now() + minute });
    await eraseSession(world.app.deps, "acme", sessionId);
    await advance(world, 5 * minute);
    expect(await sweepMemory(world.app.deps, { before: world.app.clock.now() })).toEqual({});
    expect(await world.facts()).toEqual([]);
  });
});
