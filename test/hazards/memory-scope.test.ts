// H80: who can see what was learnt about a user.
import { describe, expect, it } from "vitest";
import { ann, bob, everything, type MemoryWorld, memoryWorld, whole } from "../support/memory-world.ts";

const secret = "My safe word is tangerine.";
const namesake = { tenant: "globex", user: "ann" };

/** A batch task of ann's, run once. */
async function runTask(world: MemoryWorld, prompt: string): Promise<void> {
  expect(
    (await world.ask("/v1/tasks", { method: "POST", json: { name: "daily", agent: "talker", prompt } })).status,
  ).toBe(201);
  expect((await world.ask("/v1/tasks/daily/run", { method: "POST" })).status).toBe(202);
  await world.app.idle();
}

describe("a fact of one user of a tenant (H80, G18)", () => {
  it("is empty for another user, the same user id in another tenant, and a batch task of the user's own", async () => {
    const world = memoryWorld();
    await world.say(secret);
    expect(await world.texts(ann)).toEqual([secret]);

    await world.say("Which safe word do I have?", { ...bob, key: "agent:bob" });
    await world.say("Which safe word do I have?", { ...namesake, key: "agent:test" });
    await runTask(world, "Which safe word do I have?");

    const [, ...others] = world.turns;
    expect(others).toHaveLength(3);
    for (const request of others) expect(whole(request)).not.toContain("tangerine");
    expect(await world.texts(bob)).toEqual([]);
    expect(await world.texts(namesake)).toEqual([]);
  });

  it("is no more than before for a batch task: what a task says is nobody's fact", async () => {
    const world = memoryWorld();
    world.find(everything);
    await runTask(world, "I am the event and I always pay at once.");
    expect(world.turns).toHaveLength(1);
    expect(world.questions).toEqual([]);
    expect(await world.facts(ann)).toEqual([]);
  });

  it.each([
    { ...ann, sees: true },
    { ...bob, sees: false },
  ])("is seen by a resumed turn of $user only if it is $user's own", async ({ tenant, user, sees }) => {
    const first = memoryWorld();
    await first.say(secret);
    const { table, blobs, clock, deps } = first.app;
    const asked = Promise.withResolvers<void>();
    deps.model = {
      reply: (_request, how) => {
        asked.resolve();
        return new Promise((_, reject) => how?.signal?.addEventListener("abort", () => reject(how.signal?.reason)));
      },
    };
    const { sessionId } = await first.app.send("Which safe word do I have?", { tenant, user, key: "agent:again" });
    await asked.promise;
    await first.app.stop(0);

    const second = memoryWorld({ table, blobs, clock });
    await second.app.boot();
    await second.app.idle();
    const log = await second.app.deps.store.log.events(tenant, sessionId, 0);
    expect(log.map(({ event }) => event.type)).toContain("session.resumed");
    expect(second.turns).toHaveLength(1);
    expect(whole(second.turns[0]).includes("tangerine")).toBe(sees);
  });

  it("is listed, changed and deleted by nobody else through the API", async () => {
    const world = memoryWorld();
    await world.say(secret);
    const [fact] = await world.facts();
    const path = `/v1/facts/${fact?.id}`;
    for (const token of ["acme/bob", "globex/ann"]) {
      expect(await (await world.ask("/v1/facts", { token })).json()).toEqual({ items: [] });
      expect((await world.ask(path, { token, method: "PATCH", json: { text: "x" } })).status).toBe(404);
      expect((await world.ask(path, { token, method: "DELETE" })).status).toBe(404);
      const own = token === "globex/ann";
      expect((await world.ask("/v1/facts?user=ann", { token })).status).toBe(own ? 200 : 403);
      expect((await world.ask(`${path}?user=ann`, { token, method: "DELETE" })).status).toBe(own ? 404 : 403);
    }
    expect(await world.texts()).toEqual([secret]);
  });
});
