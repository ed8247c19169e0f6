import { describe, expect, it } from "vitest";
import { createApi } from "../../lib/api/create-api.ts";
import { ann, found, memoryWorld } from "../support/memory-world.ts";

type Listed = { items: { id: string }[] };

async function world() {
  const made = memoryWorld();
  await made.say("I live in Berlin.");
  const [fact] = await made.facts();
  if (!fact) throw new Error("nothing was learnt");
  return { ...made, id: fact.id };
}

describe("GET /v1/facts", () => {
  it("lists the caller's facts that hold, with source and validity; all of them when asked", async () => {
    const { ask, say, find, id } = await world();
    find(() => found({ sentences: [1], replaces: [1] }));
    const { sessionId } = await say("I moved to Munich.");
    const shown = (await (await ask("/v1/facts")).json()) as Listed;
    expect(shown).toEqual({
      items: [
        {
          id: expect.stringMatching(/^[0-9a-f]{20}$/),
          text: "I moved to Munich.",
          kind: "preference",
          source: { sessionId, turn: 2 },
          origin: "user",
          validFrom: "2026-11-30T12:00:00.000Z",
        },
      ],
    });
    const all = (await (await ask("/v1/facts?include=all")).json()) as Listed;
    expect(all.items).toHaveLength(2);
    expect(all.items).toContainEqual(
      expect.objectContaining({ id, validTo: "2026-11-30T12:00:00.000Z", replacedBy: shown.items[0]?.id }),
    );
  });

  it("shows another user's only to a token with the scope facts:admin, and of the same tenant", async () => {
    const { app, ask } = await world();
    expect((await ask("/v1/facts?user=ann", { token: "acme/bob" })).status).toBe(403);
    const admin = createApi({
      deps: app.deps,
      info: { version: "0", model: "none" },
      authenticate: async (tenant) => ({ tenant, user: "admin", scopes: ["facts:admin"] }),
    });
    const list = async (tenant: string) => {
      const headers = { Authorization: `Bearer ${tenant}` };
      return (await admin.fetch(new Request("http://baton.test/v1/facts?user=ann", { headers }))).json();
    };
    expect(await list("acme")).toMatchObject({ items: [{ text: "I live in Berlin." }] });
    expect(await list("globex")).toEqual({ items: [] });
  });

  it.each(["user=", "include=some", "limit=3", "user=ann&user=bob"])("refuses ?%s", async (query) => {
    const { ask } = await world();
    expect((await ask(`/v1/facts?${query}`)).status).toBe(400);
  });
});

describe("PATCH /v1/facts/{id}", () => {
  it("corrects a fact, for later turns too", async () => {
    const { ask, say, turns, id } = await world();
    const response = await ask(`/v1/facts/${id}`, { method: "PATCH", json: { text: "I live in Bern." } });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      id,
      text: "I live in Bern.",
      origin: "user",
      correctedAt: expect.any(String),
    });
    await say("Where do I live?", { key: "agent:other" });
    const last = JSON.stringify(turns.at(-1)?.messages);
    expect(last).toContain("I live in Bern.");
    expect(last).not.toContain("I live in Berlin.");
  });

  it.each([{}, { text: "" }, { text: " " }, { text: "x".repeat(501) }, { text: "x", kind: "profile" }, { text: 3 }])(
    "refuses %j",
    async (json) => {
      const { ask, id, texts } = await world();
      expect((await ask(`/v1/facts/${id}`, { method: "PATCH", json })).status).toBe(400);
      expect(await texts()).toEqual(["I live in Berlin."]);
    },
  );
});

describe("DELETE /v1/facts/{id}", () => {
  it("deletes for good: no item holds its text, and no turn sees it", async () => {
    const { app, ask, say, turns, id } = await world();
    expect((await ask(`/v1/facts/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await ask(`/v1/facts/${id}`, { method: "DELETE" })).status).toBe(404);
    expect(await app.deps.store.facts.list(ann)).toEqual([]);
    const items = await app.table.query({ pk: "acme#user:ann" });
    expect(JSON.stringify(items)).not.toContain("Berlin");
    await say("Where do I live?", { key: "agent:other" });
    expect(JSON.stringify(turns.at(-1)?.messages)).not.toContain("Berlin");
  });

  it.each(["unknown", "f".repeat(20), "%23", "V%23000000000001"])("answers 404 for the id %s", async (id) => {
    const { ask } = await world();
    expect((await ask(`/v1/facts/${id}`, { method: "DELETE" })).status).toBe(404);
    expect((await ask(`/v1/facts/${id}`, { method: "PATCH", json: { text: "x" } })).status).toBe(404);
  });
});

describe("DELETE /v1/sessions/{id}", () => {
  it("keeps what was learnt from it, unless its user asks for that too", async () => {
    const { ask, facts, say, texts } = await world();
    const other = await say("I like tea.", { key: "agent:other" });
    const [fact] = await facts();
    const path = `/v1/sessions/${fact?.source.sessionId}`;
    expect((await ask(`${path}?facts=erase`, { method: "DELETE", token: "acme/bob" })).status).toBe(403);
    expect((await ask(`${path}?facts=erase`, { method: "DELETE" })).status).toBe(204);
    expect(await texts()).toEqual(["I like tea."]);
    expect((await ask(`/v1/sessions/${other.sessionId}`, { method: "DELETE" })).status).toBe(204);
    expect(await texts()).toEqual(["I like tea."]);
  });
});
