// Control, time travel, chat commands and the tenant's stop over the API: statuses, shapes and If-Match.
import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { createApi } from "../../lib/api/create-api.ts";
import { accepted, answered, session, settled, tenantStop, tree } from "../../lib/api/shapes.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { day, lifeCycleWorld, type WorldOptions } from "../support/life-cycle-world.ts";
import { authenticate, problemOf } from "./api-fixture.ts";

function apiWorld(options: WorldOptions = {}) {
  const world = lifeCycleWorld(options);
  const api = createApi({ deps: world.app.deps, authenticate, info: { version: "0", model: "none" } });
  const ask = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
    api.fetch(
      new Request(`http://baton.test${path}`, {
        method,
        headers: { Authorization: "Bearer acme/ann", ...headers },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      }),
    );
  const read = async <T extends z.ZodType>(schema: T, response: Response): Promise<z.output<T>> =>
    schema.parse(await response.json());
  return {
    world,
    ask,
    read,
    say: (text: string, more: object = {}) => ask("POST", "/v1/messages?wait=25", { key: "agent:test", text, ...more }),
    control: (id: string, action: string, body: object = {}, headers: Record<string, string> = {}) =>
      ask("POST", `/v1/sessions/${id}/${action}`, body, headers),
  };
}

describe("the life cycle over the API", () => {
  it("tells of a reset once, in the finished answer and in the tree's first turn (H60)", async () => {
    const { say, read, ask, world } = apiWorld();
    const first = await read(settled, await say("M1"));
    await world.clock.advance(2 * day);
    const second = await read(settled, await say("M2"));
    const notice = { kind: "session_reset", reason: "idle", parent: first.sessionId };
    expect([first.notice, second.notice, second.answer]).toEqual([undefined, notice, "heard M2"]);
    expect((await read(settled, await say("M3"))).notice).toBeUndefined();
    const { turns } = await read(tree, await ask("GET", `/v1/sessions/${second.sessionId}`));
    expect(turns.map((turn) => turn.notice)).toEqual([notice, undefined]);
    const old = await read(tree, await ask("GET", `/v1/sessions/${first.sessionId}`));
    expect(old.session).toMatchObject({ status: "closed", closedBy: "idle" });
  });

  it("answers a chat command with 200 and without a turn, also without wait", async () => {
    const { ask, read, world } = apiWorld();
    const help = await ask("POST", "/v1/messages", { key: "agent:test", text: "/help" });
    expect([help.status, help.headers.get("Location")]).toEqual([200, null]);
    expect(await read(answered, help)).toMatchObject({ command: "help", sessionId: "", status: "completed" });
    const fresh = await read(answered, await ask("POST", "/v1/messages", { key: "agent:test", text: "/new" }));
    expect(fresh.sessionId).not.toBe("");
    expect(world.requests).toEqual([]);
  });

  it("shows what waits with its receipt, and finds a message's answer where a reset has moved it", async () => {
    // Time stands still: the wait looks again when it is woken by a commit, and half a second later.
    const { ask, read, control, say, world } = apiWorld({ clock: fakeClock({ autoUnderMs: 0 }) });
    world.tool.hold();
    const open = await read(accepted, await ask("POST", "/v1/messages", { key: "agent:test", text: "work 1" }));
    await world.tool.reached;
    const waiting = say("M2");
    while ((await world.app.deps.store.inbox.waiting("acme", open.sessionId)).length === 0)
      await new Promise((resolve) => setImmediate(resolve));
    const shown = await read(tree, await ask("GET", `/v1/sessions/${open.sessionId}`));
    expect(shown.waiting).toMatchObject([{ position: 1, receipt: "queued", user: "ann", via: "api" }]);
    const fresh = await read(session, await control(open.sessionId, "reset"));
    world.tool.open();
    await world.app.idle();
    await world.clock.advance(500);
    expect(await read(settled, await waiting)).toMatchObject({ sessionId: fresh.id, turn: 1, answer: "heard M2" });
  });

  it("takes If-Match for every action: 412 for a version that has passed, and nothing happens", async () => {
    const { say, read, control, ask, world } = apiWorld();
    const { sessionId } = await read(settled, await say("M1"));
    for (const [action, body] of [
      ["reset", {}],
      ["compact", {}],
      ["stop", {}],
      ["rollback", { version: 2 }],
      ["fork", { version: 2 }],
      ["retry", {}],
      ["resume", {}],
    ] as const) {
      const refused = await control(sessionId, action, body, { "If-Match": '"3"' });
      expect([action, refused.status, (await problemOf(refused)).code]).toEqual([action, 412, "session.stale_version"]);
    }
    expect((await read(tree, await ask("GET", `/v1/sessions/${sessionId}`))).session.version).toBe(4);
    const back = await control(sessionId, "rollback", { version: 1 }, { "If-Match": '"4"' });
    expect([back.status, back.headers.get("ETag")]).toEqual([200, '"5"']);
    const fork = await read(session, await control(sessionId, "fork", { version: 4 }));
    expect(fork).toMatchObject({ status: "created", parent: { sessionId, version: 4 } });
    const { items } = (await (await ask("GET", "/v1/sessions")).json()) as { items: { id: string }[] };
    expect(items.map((item) => item.id).toSorted()).toEqual([sessionId, fork.id].toSorted());
    expect(world.requests).toHaveLength(1);
  });

  it.each([
    ["rollback", { version: 99 }, 400, "input.invalid"],
    ["rollback", { version: 0 }, 400, "input.invalid"],
    ["rollback", {}, 400, "input.invalid"],
    ["rollback", { version: 3 }, 409, "session.impossible_transition"],
    ["fork", { version: 4 }, 409, "session.impossible_transition"],
    ["fork", { version: 99 }, 400, "input.invalid"],
    ["retry", {}, 409, "session.impossible_transition"],
    ["resume", {}, 409, "session.impossible_transition"],
    ["reset", { reason: "x" }, 400, "input.invalid"],
  ])("refuses %s %j with %i", async (action, body, status, code) => {
    const { say, read, control } = apiWorld();
    const { sessionId } = await read(settled, await say("work 1"));
    const refused = await control(sessionId, action, body);
    expect([refused.status, (await problemOf(refused)).code]).toEqual([status, code]);
  });

  it.each(["stop", "resume", "reset", "compact", "retry", "rollback", "fork"])(
    "answers an unknown session and another tenant's alike: %s (G6)",
    async (action) => {
      const { say, read, control, world } = apiWorld();
      const { sessionId } = await read(settled, await say("M1"));
      const rival = await world.say("M1", { tenant: "rival" });
      const body = action === "rollback" || action === "fork" ? { version: 1 } : {};
      const answers = await Promise.all(
        ["20260101_000000_00000000", rival.sessionId, "nonsense"].map(async (id) => {
          const response = await control(id, action, body);
          return [response.status, await problemOf(response)];
        }),
      );
      expect(answers[0]?.[0]).toBe(404);
      expect(answers.slice(1)).toEqual([answers[0], answers[0]]);
      expect(sessionId).not.toBe(rival.sessionId);
    },
  );

  it("stops the tenant and lifts the stop", async () => {
    const { ask, read, say } = apiWorld();
    expect(await read(tenantStop, await ask("POST", "/v1/stop", { reason: "fire" }))).toMatchObject({
      reason: "fire",
      by: "ann",
      stopped: 0,
    });
    const refused = await say("M1");
    expect([refused.status, (await problemOf(refused)).code]).toEqual([409, "tenant.stopped"]);
    expect((await ask("DELETE", "/v1/stop")).status).toBe(204);
    expect((await say("M1")).status).toBe(200);
  });
});
