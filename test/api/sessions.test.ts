import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { checkpoint, checkpointRow, event, pageOf, session, tree } from "../../lib/api/shapes.ts";
import { address, callFinished, created, replied, turnFinished, turnStarted } from "../sessions/session-log.ts";
import { apiFixture, problemOf } from "./api-fixture.ts";

const at = `/v1/sessions/${address.sessionId}`;

async function withSession() {
  const fixture = apiFixture();
  const log = fixture.session();
  await log.append(created(), turnStarted(1), replied(1, { text: "a", calls: [{}] }), callFinished(1, 0));
  await log.append(replied(2, { text: "b" }), turnFinished(1, "b"));
  return { ...fixture, log };
}

describe("reading sessions", () => {
  it("answers the list, the tree, events and checkpoints in their published shapes", async () => {
    const { ask } = await withSession();
    const read = async <T extends z.ZodType>(path: string, shape: T) => {
      const response = await ask(path);
      expect(response.status, path).toBe(200);
      return shape.parse(await response.json());
    };
    const list = await read("/v1/sessions", pageOf(session));
    expect(list.items.map(({ id, status }) => [id, status])).toEqual([[address.sessionId, "completed"]]);
    expect((await read(at, tree)).turns[0]?.steps.map(({ kind }) => kind)).toEqual([
      "thought",
      "action",
      "observation",
      "final",
    ]);
    expect((await read(`${at}/events?after=2`, pageOf(event))).items.map(({ version }) => version)).toEqual([
      3, 4, 5, 6,
    ]);
    expect((await read(`${at}/checkpoints?limit=2`, pageOf(checkpointRow))).cursor).toBe("2");
    expect((await read(`${at}/checkpoints?limit=2&cursor=2`, pageOf(checkpointRow))).items[0]?.version).toBe(3);
    expect(await read(`${at}/checkpoints/3`, checkpoint)).toMatchObject({ version: 3, session: { status: "running" } });
  });

  it("names the version as ETag, for If-Match", async () => {
    const { ask } = await withSession();
    expect((await ask(at)).headers.get("ETag")).toBe('"6"');
  });

  it("filters the list and pages it by cursor", async () => {
    const { ask } = await withSession();
    const count = async (query: string) =>
      ((await (await ask(`/v1/sessions?${query}`)).json()) as { items: [] }).items.length;
    expect(await count("status=completed")).toBe(1);
    expect(await count("status=running")).toBe(0);
    expect(await count(`key=${address.key}`)).toBe(1);
    expect(await count("key=other")).toBe(0);
    for (const query of [
      "status=done",
      "limit=0",
      "limit=201",
      "limit=x",
      "cursor=",
      "cursor=garbage",
      "cursor=W10",
      "sort=up",
    ]) {
      const response = await ask(`/v1/sessions?${query}`);
      expect([query, response.status]).toEqual([query, 400]);
    }
  });

  it("answers an unknown id, another tenant's and odd ones with the same bytes (G6)", async () => {
    const { ask } = await withSession();
    const paths = ["", "/events", "/checkpoints", "/checkpoints/1"];
    const ids = [
      "20260505_143022_ffffffff",
      "x",
      "a%23b",
      "..%2F..%2Fetc",
      "%F0%9F%98%80",
      "%00",
      "%",
      "x".repeat(3000),
    ];
    for (const path of paths) {
      const foreign = await ask(`${at}${path}`, { token: "rival/eve" });
      const expected = [404, await foreign.text()];
      for (const id of ids) {
        const response = await ask(`/v1/sessions/${id}${path}`);
        expect([response.status, await response.text()]).toEqual(expected);
      }
    }
    const stopped = await ask(`${at}/stop`, { method: "POST", token: "rival/eve" });
    expect((await problemOf(stopped)).code).toBe("not_found");
  });

  it.each([
    "/events?after=x",
    "/events?cursor=x",
    "/events?after=1&cursor=1",
    "/checkpoints?after=-1",
    "/checkpoints?after=1&cursor=1",
    "/checkpoints/first",
    "?turns=1",
  ])("refuses %s with 400", async (path) => {
    const { ask } = await withSession();
    expect((await problemOf(await ask(`${at}${path}`))).status).toBe(400);
  });

  it("answers 404 for a version that does not exist", async () => {
    const { ask } = await withSession();
    for (const version of [0, 7]) expect((await ask(`${at}/checkpoints/${version}`)).status).toBe(404);
  });
});

describe("POST /v1/sessions/{id}/stop", () => {
  it("appends the stop to a running session and answers it", async () => {
    const { ask, log, deps } = await withSession();
    await log.append(turnStarted(2));
    const response = await ask(`${at}/stop`, { method: "POST", json: { reason: "enough" } });
    expect(response.status).toBe(200);
    expect(session.parse(await response.json())).toMatchObject({ version: 8, status: "running" });
    const [last] = await deps.store.log.events("acme", address.sessionId, 7);
    expect(last?.event).toMatchObject({ type: "stop.requested", reason: "enough", by: "ann", thenSuspend: true });
  });

  it("needs no body", async () => {
    const { ask } = await withSession();
    expect((await ask(`${at}/stop`, { method: "POST" })).status).toBe(200);
  });

  it("answers 412 when If-Match names another version, and does nothing", async () => {
    const { ask, deps } = await withSession();
    for (const value of ['"5"', "5"]) {
      const response = await ask(`${at}/stop`, { method: "POST", headers: { "If-Match": value } });
      expect((await problemOf(response)).code).toBe("session.stale_version");
    }
    expect((await deps.store.log.head("acme", address.sessionId))?.version).toBe(6);
    const ok = await ask(`${at}/stop`, { method: "POST", headers: { "If-Match": '"6"' } });
    expect([ok.status, ok.headers.get("ETag")]).toEqual([200, '"7"']);
    expect((await ask(`${at}/stop`, { method: "POST", headers: { "If-Match": "*" } })).status).toBe(200);
    expect((await ask(`${at}/stop`, { method: "POST", headers: { "If-Match": "new" } })).status).toBe(400);
  });

  it("answers 409 for a closed session", async () => {
    const { ask, log } = await withSession();
    await log.append({ type: "session.closed", reason: "idle" });
    expect((await problemOf(await ask(`${at}/stop`, { method: "POST" }))).code).toBe("session.impossible_transition");
  });

  it("refuses unknown fields", async () => {
    const { ask } = await withSession();
    const response = await ask(`${at}/stop`, { method: "POST", json: { reason: "x", force: true } });
    expect((await problemOf(response)).errors).toEqual([{ path: "$.force", message: "unknown field" }]);
  });
});
