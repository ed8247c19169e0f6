import { describe, expect, it } from "vitest";
import { buildTree } from "../../lib/sessions/build-tree.ts";
import { readCheckpoint, readCheckpoints, readEvents } from "../../lib/sessions/events.ts";
import {
  address,
  callFinished,
  callStarted,
  created,
  replied,
  sessionLog,
  turnFinished,
  turnStarted,
} from "./session-log.ts";

const { tenant, sessionId } = address;

async function busySession() {
  const log = sessionLog();
  await log.append(created(), turnStarted(1), replied(1, { calls: [{}, {}] }), callStarted(1, 1), callFinished(1, 1));
  await log.append(callFinished(1, 0), replied(2, { text: "x" }), turnFinished(1), {
    type: "notice",
    kind: "k",
    text: "t",
  });
  await log.append(turnStarted(2), replied(1, { text: "y" }), turnFinished(2));
  return log;
}

describe("events of a session", () => {
  it("carry turn and step, the same whatever page they are read in", async () => {
    const log = await busySession();
    const expected = [
      [1, 0, 0, "session.created"],
      [2, 1, 0, "turn.started"],
      [3, 1, 1, "model.replied"],
      [4, 1, 3, "call.started"],
      [5, 1, 4, "call.finished"],
      [6, 1, 5, "call.finished"],
      [7, 1, 6, "model.replied"],
      [8, 1, 6, "turn.finished"],
      [9, 1, 0, "notice"],
      [10, 2, 0, "turn.started"],
      [11, 2, 1, "model.replied"],
      [12, 2, 1, "turn.finished"],
    ];
    for (const limit of [1, 2, 3, 5, 12]) {
      for (const cold of [false, true]) {
        const seen: unknown[][] = [];
        let after = 0;
        for (;;) {
          const deps = { store: cold ? { ...log.store } : log.store };
          const page = await readEvents(deps, tenant, sessionId, { after, limit });
          seen.push(...page.items.map(({ version, turn, step, type }) => [version, turn, step, type]));
          if (page.cursor === undefined) break;
          after = Number(page.cursor);
        }
        expect(seen).toEqual(expected);
      }
    }
  });

  it("agree with the tree on the step of every reply and outcome", async () => {
    const log = await busySession();
    const { items } = await readEvents(log, tenant, sessionId, { after: 0, limit: 100 });
    const steps = buildTree(await log.all()).turns.flatMap(({ turn, steps }) =>
      steps.map((step) => ({ turn, ...step })),
    );
    for (const event of items.filter(({ type }) => type === "model.replied" || type === "call.finished")) {
      const step = steps.find(({ version, kind }) => version === event.version && kind !== "action");
      expect([event.turn, event.step]).toEqual([step?.turn, step?.step]);
    }
  });

  it("show times as ISO 8601 and money also in dollars, without what only the runtime needs", async () => {
    const log = sessionLog();
    const started = turnStarted(1);
    if (started.type !== "turn.started") throw new Error("not a turn");
    const messages = started.messages.map((message) => ({ ...message, once: "h", deliverTo: { secret: "s" } }));
    await log.append(
      created(),
      { ...started, messages },
      replied(1, { calls: [{ effect: "once" }] }),
      callStarted(1, 0),
    );
    const { items } = await readEvents(log, tenant, sessionId, { after: 1, limit: 10 });
    expect(items[0]?.data).toEqual({
      turn: 1,
      owner: "x",
      messages: [
        {
          messageId: "m-1",
          seq: 1,
          at: "2026-05-05T14:30:22.000Z",
          content: [{ type: "text", text: "Investigate C-1042" }],
          from: { user: "ann", via: "api" },
          receipt: "started",
        },
      ],
    });
    expect(items[1]?.data).toMatchObject({ usd: "0.001500", usdMicros: 1500 });
    expect(items[2]?.data).toMatchObject({ leaseUntil: "2026-05-05T14:31:32.000Z" });
  });

  it("end a page early when it would be too large, but never without progress", async () => {
    const log = await busySession();
    const page = await readEvents(log, tenant, sessionId, { after: 0, limit: 100, maxBytes: 1 });
    expect(page).toMatchObject({ items: [{ version: 1 }], cursor: "1" });
  });

  it("answer an unknown id and another tenant's alike (G6)", async () => {
    const log = await busySession();
    const ask = (tenant: string, id: string) =>
      readEvents(log, tenant, id, { after: 0, limit: 1 }).catch((error: Error) => ({
        name: error.name,
        message: error.message,
      }));
    const unknown = await ask(tenant, "20260505_143022_ffffffff");
    expect(unknown).toEqual({ name: "NotFound", message: "no such session" });
    expect(await ask("rival", sessionId)).toEqual(unknown);
    expect(await ask(tenant, "x#y")).toEqual(unknown);
  });
});

describe("checkpoints of a session", () => {
  it("list every version with its place in the chain", async () => {
    const log = await busySession();
    const { items } = await readCheckpoints(log, tenant, sessionId, { after: 0, limit: 100 });
    expect(items.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(items.slice(1).map(({ prevHash }) => prevHash)).toEqual(items.slice(0, -1).map(({ hash }) => hash));
  });

  it("show one with the session as it stood then and its snapshot", async () => {
    const log = await busySession();
    const found = await readCheckpoint(log, tenant, sessionId, 4);
    expect(found).toMatchObject({
      version: 4,
      turn: 1,
      step: 3,
      type: "call.started",
      session: { version: 4, status: "running" },
      snapshot: { turn: { turn: 1, round: 1 } },
    });
    for (const version of [0, 13]) {
      await expect(readCheckpoint(log, tenant, sessionId, version)).rejects.toMatchObject({ name: "NotFound" });
    }
  });
});
