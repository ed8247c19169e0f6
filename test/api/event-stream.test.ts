import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { heartbeatMs } from "../../lib/api/event-stream.ts";
import type { EventView } from "../../lib/sessions/event-view.ts";
import { address, created, replied, type SessionLog, turnFinished, turnStarted } from "../sessions/session-log.ts";
import { type ApiFixture, apiFixture } from "./api-fixture.ts";
import { type Listening, listen, openDeafSocket, openSource } from "./event-source.ts";

const path = `/v1/sessions/${address.sessionId}/events`;
const { tenant, sessionId } = address;

let fixture: ApiFixture;
let server: Listening;
let log: SessionLog;

beforeEach(async () => {
  fixture = apiFixture();
  server = await listen(fixture.api);
  log = fixture.session();
  await log.append(created(), turnStarted(1));
});
afterEach(() => server.close());

/** Until the condition holds: no time passes on the fake clock. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

const versions = (events: { id?: string | undefined }[]) => events.map(({ id }) => id);

describe("the event stream", () => {
  it("sends what is in the log and then each new version, with its version as id and its type as name", async () => {
    const source = await openSource(`${server.url}${path}`);
    const first = await source.take(2);
    expect(first.map(({ id, event }) => [id, event])).toEqual([
      ["1", "session.created"],
      ["2", "turn.started"],
    ]);
    await log.append(replied(1, { text: "Clean." }), turnFinished(1, "Clean."));
    const next = await source.take(2);
    expect(next.map(({ id, event }) => [id, event])).toEqual([
      ["3", "model.replied"],
      ["4", "turn.finished"],
    ]);
    const page = (await (await fixture.ask(path)).json()) as { items: EventView[] };
    expect([...first, ...next].map(({ data }) => JSON.parse(data))).toEqual(page.items);
    source.leave();
  });

  it("says once when the client has caught up with the log", async () => {
    const source = await openSource(`${server.url}${path}?after=1`);
    await until(() => source.comments.length > 0);
    await log.append(replied(1, { text: "x" }));
    expect(versions(await source.take(2))).toEqual(["2", "3"]);
    expect(source.comments).toEqual(['live {"version":2}']);
    source.leave();
  });

  it("goes on after Last-Event-ID, which beats ?after, and misses and repeats nothing (G16)", async () => {
    for (const [query, lastEventId, expected] of [
      ["?after=1", undefined, ["2"]],
      ["", "1", ["2"]],
      ["?after=0", "1", ["2"]],
    ] as const) {
      const source = await openSource(`${server.url}${path}${query}`, lastEventId ? { lastEventId } : {});
      expect(versions(await source.take(1))).toEqual(expected);
      source.leave();
    }
    const all: (string | undefined)[] = [];
    let lastEventId = "0";
    for (let round = 1; round <= 5; round++) {
      const source = await openSource(`${server.url}${path}`, { lastEventId });
      await log.append(replied(round, { text: "t", stop: "pause_turn" }));
      const seen = versions(await source.take(round === 1 ? 3 : 1));
      all.push(...seen);
      lastEventId = seen.at(-1) ?? lastEventId;
      source.leave();
    }
    expect(all).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
  });

  it("sends text and progress as they happen, without id", async () => {
    const source = await openSource(`${server.url}${path}?after=2`);
    await until(() => fixture.clock.sleeping() >= 2);
    fixture.deps.live.publish(tenant, sessionId, { kind: "text", text: "Cle\nan" });
    fixture.deps.live.publish(tenant, sessionId, { kind: "progress", tool: "fetch", message: "50 %" });
    fixture.deps.live.publish("rival", sessionId, { kind: "text", text: "not yours" });
    await log.append(replied(1, { text: "Clean." }));
    expect((await source.take(3)).map(({ id, event, data }) => [id, event, JSON.parse(data)])).toMatchObject([
      [undefined, "text", { text: "Cle\nan" }],
      [undefined, "progress", { tool: "fetch", message: "50 %" }],
      ["3", "model.replied", { version: 3 }],
    ]);
    source.leave();
  });

  it("looks every second where no bus tells it", async () => {
    fixture.deps.live.publish = () => {};
    const source = await openSource(`${server.url}${path}?after=2`);
    await until(() => fixture.clock.sleeping() >= 2);
    await log.append(replied(1, { text: "x" }));
    await fixture.clock.advance(1000);
    expect(versions(await source.take(1))).toEqual(["3"]);
    source.leave();
  });

  it("keeps a quiet connection alive with comments", async () => {
    const source = await openSource(`${server.url}${path}?after=2`);
    for (let i = 1; i <= 3; i++) {
      await until(() => fixture.clock.sleeping() >= 2);
      await fixture.clock.advance(heartbeatMs);
      await until(() => source.comments.length >= i + 1);
    }
    source.leave();
  });

  it("lets go of everything when the client leaves, and the turn does not notice", async () => {
    let listeners = 0;
    const { subscribe } = fixture.deps.live;
    fixture.deps.live.subscribe = (...args) => {
      listeners++;
      const unsubscribe = subscribe(...args);
      return () => {
        listeners--;
        unsubscribe();
      };
    };
    const source = await openSource(`${server.url}${path}`);
    await source.take(2);
    expect(listeners).toBe(1);
    source.leave();
    await until(() => listeners === 0 && fixture.clock.sleeping() === 0);
    await log.append(replied(1, { text: "x" }), turnFinished(1));
    expect((await log.all()).map(({ version }) => version)).toEqual([1, 2, 3, 4]);
  });

  it("stays open for a finished session until the client leaves, and ends when the runtime stops", async () => {
    await log.append(replied(1, { text: "x" }), turnFinished(1), { type: "session.closed", reason: "idle" });
    const source = await openSource(`${server.url}${path}`);
    await source.take(5);
    await fixture.clock.advance(60_000);
    let ended = false;
    source.ended.then(() => {
      ended = true;
    });
    await until(() => source.comments.length > 1);
    expect(ended).toBe(false);
    fixture.stop.abort();
    await source.ended;
  });

  it("cuts a reader that takes nothing for two heartbeats, and its reconnect misses nothing (G16)", async () => {
    for (let round = 1; round <= 60; round++) {
      await log.append(replied(round, { text: "x".repeat(200_000), stop: "pause_turn" }));
    }
    const deaf = await openDeafSocket(server.port, path);
    const warned = () => fixture.lines.some(({ message }) => message.includes("too slow"));
    await until(async () => {
      await fixture.clock.advance(heartbeatMs);
      return warned();
    });
    deaf.destroy();
    const source = await openSource(`${server.url}${path}`);
    expect(versions(await source.take(62)).at(-1)).toBe("62");
    source.leave();
  });

  it("answers HEAD with headers only and leaves nothing running", async () => {
    const response = await fetch(`${server.url}${path}`, {
      method: "HEAD",
      headers: { Accept: "text/event-stream", Authorization: "Bearer acme/ann" },
    });
    expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect(fixture.clock.sleeping()).toBe(0);
  });

  it("is refused for another tenant and for a bad Last-Event-ID like any request", async () => {
    const foreign = await openSource(`${server.url}${path}`, { token: "rival/eve" });
    expect(foreign.status).toBe(404);
    const bad = await openSource(`${server.url}${path}`, { lastEventId: "x" });
    expect(bad.status).toBe(400);
  });

  it("says a damaged log in the stream and ends it (H05)", async () => {
    const item = await fixture.deps.store.table.get({ pk: `${tenant}#${sessionId}`, sk: "V#000000000002" });
    if (!item) throw new Error("no version 2");
    await fixture.deps.store.table.put({ ...item, event: "{}" });
    const cold = apiFixture({ clock: fixture.clock, storage: fixture.deps.store });
    const other = await listen(cold.api);
    const source = await openSource(`${other.url}${path}?after=1`);
    const [event] = await source.take(1);
    expect([event?.event, event?.id, JSON.parse(event?.data ?? "")]).toEqual([
      "error",
      undefined,
      { code: "store.unreadable_record" },
    ]);
    await source.ended;
    expect(cold.lines).toMatchObject([{ level: "error", fields: { sessionId, code: "store.unreadable_record" } }]);
    await other.close();
  });
});
