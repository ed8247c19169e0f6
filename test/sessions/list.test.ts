import { describe, expect, it } from "vitest";
import { listSessions } from "../../lib/sessions/list.ts";
import { created, replied, type SessionLog, sessionLog, turnFinished, turnStarted } from "./session-log.ts";

async function sessions(count: number): Promise<SessionLog> {
  const first = sessionLog();
  for (let i = 0; i < count; i++) {
    const at = { sessionId: `20260505_143022_0000000${i}`, key: i % 2 === 0 ? "even" : "odd" };
    const log = sessionLog({ ...at, store: first.store, clock: first.clock });
    await log.append(created(at), turnStarted(1));
    if (i % 3 === 0) await log.append(replied(1, { text: "x" }), turnFinished(1));
  }
  return first;
}

async function walk(log: SessionLog, options: Omit<Parameters<typeof listSessions>[2], "cursor">): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await listSessions(log, "acme", { ...options, ...(cursor ? { cursor } : {}) });
    expect(page.items.length).toBeLessThanOrEqual(options.limit);
    ids.push(...page.items.map((item) => item.id.slice(-1)));
    if (!page.cursor) return ids;
    cursor = page.cursor;
  }
}

describe("the list of sessions", () => {
  it("is newest first, and pages neither skip nor repeat", async () => {
    const log = await sessions(8);
    for (const limit of [1, 3, 8, 50]) expect(await walk(log, { limit })).toEqual([..."76543210"]);
  });

  it("filters by key and by status, over pages too", async () => {
    const log = await sessions(8);
    expect(await walk(log, { limit: 2, key: "odd" })).toEqual([..."7531"]);
    expect(await walk(log, { limit: 2, status: "completed" })).toEqual([..."630"]);
    expect(await walk(log, { limit: 2, status: "completed", key: "odd" })).toEqual(["3"]);
    expect(await walk(log, { limit: 2, status: "paused" })).toEqual([]);
  });

  it("shows the status of the log, not of a stale projection (H11)", async () => {
    const log = sessionLog();
    const head = await log.append(created(), turnStarted(1), replied(1, { text: "x" }));
    await log.store.log.append(head, turnFinished(1), { next: () => "other" });
    const { items } = await listSessions(log, "acme", { limit: 10 });
    expect(items.map(({ status, version }) => [status, version])).toEqual([["completed", 4]]);
  });

  it("shows nothing of another tenant (G6)", async () => {
    const log = await sessions(2);
    expect(await listSessions(log, "rival", { limit: 10 })).toEqual({ items: [] });
  });
});
