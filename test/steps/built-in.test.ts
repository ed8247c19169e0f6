import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineAgent } from "../../lib/core/define-agent.ts";
import { defineTool } from "../../lib/core/define-tool.ts";
import { emptyHandoff } from "../../lib/core/handoff.ts";
import { applyProgress } from "../../lib/core/progress.ts";
import { sessionTree } from "../../lib/sessions/tree.ts";
import { crashAt, crashPoints } from "../../lib/testing/crash-points.ts";
import { embed } from "../../lib/testing/embed.ts";
import { detailOf, longAgent, longModel, textOfRequest } from "../support/long-session.ts";
import { eventsOf, play, readRun } from "../support/run-long.ts";

type Calls = { name: string; input: Record<string, unknown> }[];
const look = (n: number): Calls => [{ name: "look", input: { n } }];
const progress = (input: Record<string, unknown>): Calls => [{ name: "update_progress", input }];

describe("update_progress", () => {
  it("records what the model knows and, from the journal, what really happened", async () => {
    const script: Calls[] = [
      [{ name: "file", input: { n: 1 } }],
      progress({ goal: "file them", next: "item 8", decisions: [{ what: "skip 9", why: "empty" }] }),
      [{ name: "file", input: { n: 3 } }, ...progress({ done: ["item 8"], next: "" })],
    ];
    const embedded = embed({ agents: [longAgent()], model: longModel({ calls: (n) => script[n - 1] ?? null }) });
    const run = await play(embedded, "go 1");
    const records = eventsOf(run, "handoff.updated").map(({ record }) => record);
    expect(records[0]).toEqual({
      ...emptyHandoff,
      goal: "file them",
      next: "item 8",
      decisions: [{ what: "skip 9", why: "empty", atTurn: 1 }],
      sideEffects: [{ action: "file", target: '{"n":1}', atTurn: 1, status: "done" }],
      resources: ["R-1"],
    });
    expect(records[1]).toMatchObject({ goal: "file them", done: ["item 8"], next: "" });
    // Everyone who looks at the session sees it.
    const tree = await sessionTree(embedded.deps, "acme", run.sessionId);
    expect(tree.handoff).toEqual(records[1]);
  });

  it("tells of an effect that ended after the record of its round, in the next record", async () => {
    const script: Calls[] = [[...progress({ goal: "a" }), { name: "file", input: { n: 1 } }], progress({ next: "b" })];
    const run = await play(
      embed({ agents: [longAgent()], model: longModel({ calls: (n) => script[n - 1] ?? null }) }),
      "go 1",
    );
    expect(eventsOf(run, "handoff.updated").at(-1)?.record.sideEffects).toEqual([
      { action: "file", target: '{"n":1}', atTurn: 1, status: "done" },
    ]);
  });

  it("is written once, at whatever instant the process dies (G2, G3)", { timeout: 60_000 }, async () => {
    const script = [
      { calls: [{ name: "file", input: { n: 1 } }] },
      { calls: [{ name: "update_progress", input: { goal: "g", done: ["a"], constraints: ["never mail"] } }] },
      { text: "Done." },
    ];
    const { undisturbed, points } = await crashPoints(longAgent(), script);
    expect(points.length).toBeGreaterThan(30);
    for (const point of points) {
      const filed: number[] = [];
      const played = await crashAt(point, longAgent({ filed: (n) => void filed.push(n) }), script);
      const at = JSON.stringify(point);
      expect({ at, history: played.history }).toEqual({ at, history: undisturbed.history });
      expect({ at, filed }).toEqual({ at, filed: [1] });
    }
  });

  it("lets constraints only grow, unless the user takes one back in so many words", () => {
    const record = { ...emptyHandoff, constraints: ["Never mail customers without my OK"] };
    const lift = {
      liftConstraints: [{ constraint: "Never mail customers without my OK", userSaid: "you may mail now" }],
    };
    const refused = applyProgress(record, lift, { turn: 2, userText: "send it" });
    expect(refused.record.constraints).toEqual(record.constraints);
    expect(refused.refused).toHaveLength(1);
    const lifted = applyProgress(record, lift, { turn: 2, userText: "OK,  you may\nmail now, thanks" });
    expect([lifted.record.constraints, lifted.refused]).toEqual([[], []]);
    const grown = applyProgress(record, { constraints: ["use EUR", ...record.constraints] }, { turn: 2, userText: "" });
    expect(grown.record.constraints).toEqual([...record.constraints, "use EUR"]);
    // A second time changes nothing.
    const update = { done: ["a"], decisions: [{ what: "w", why: "y" }], constraints: ["use EUR"] };
    const once = applyProgress(record, update, { turn: 2, userText: "" }).record;
    expect(applyProgress(once, update, { turn: 2, userText: "" }).record).toEqual(once);
  });

  it("is offered where the record is shown, and what it cannot write is refused", async () => {
    for (const [context, wanted] of [
      ["auto", ["look", "file", "update_progress"]],
      ["compaction", ["look", "file", "update_progress"]],
      ["checkpoint", ["look", "file", "update_progress"]],
      ["full-replay", ["look", "file"]],
      ["sliding-window", ["look", "file"]],
    ] as const) {
      const model = longModel({ calls: (n) => (n === 1 ? progress({ sideEffects: [] }) : null) });
      const run = await play(embed({ agents: [longAgent({ context })], model }), "go 1");
      expect([context, model.requests[0]?.tools.map(({ name }) => name)]).toEqual([context, wanted]);
      expect(eventsOf(run, "handoff.updated")).toEqual([]);
      expect(eventsOf(run, "model.replied")[0]?.calls[0]?.refused).toMatch(/sideEffects|no tool "update_progress"/);
    }
  });

  it("leaves its name, and that of recall, to the runtime", () => {
    const tool = (name: string) =>
      defineTool({ name, description: "d", input: z.object({}), effect: "read", run: () => null });
    for (const name of ["update_progress", "recall"]) {
      const define = () => defineAgent({ name: "a", instructions: "i", model: { id: "m" }, tools: [tool(name)] });
      expect(define).toThrow(`agent "a".tools: "${name}" is the name of a built-in tool`);
    }
  });
});

describe("the handoff record", () => {
  it("is shown after a compaction, after a crash, and the effects since it where the window hides them", async () => {
    const script = (n: number): Calls | null => {
      if (n === 2) return progress({ goal: "count the vault", next: "go on", constraints: ["never open item 13"] });
      if (n === 4) return [{ name: "file", input: { n } }];
      return n <= 24 ? look(n) : null;
    };
    for (const context of ["compaction", "checkpoint", "auto"] as const) {
      const model = longModel({ calls: script });
      const agent = longAgent({
        context,
        windowTokens: 1500,
        model: { id: "scripted", maxTokens: 500, windowTokens: 6000 },
      });
      const run = await play(embed({ agents: [agent], model }), "go 1");
      expect([context, eventsOf(run, "turn.finished")[0]?.endReason]).toEqual([context, "completed"]);
      const last = model.requests.at(-1) ?? { messages: [] };
      const said = textOfRequest(last);
      expect([context, said.includes('"n":3,')]).toEqual([
        context,
        context === "checkpoint" ? said.includes('"n":3,') : false,
      ]);
      for (const part of ["count the vault", "never open item 13", 'file {"n":4}']) {
        expect([context, part, JSON.stringify(last.messages).includes(part) || said.includes(part)]).toEqual([
          context,
          part,
          true,
        ]);
      }
    }
  });
});

describe("recall", () => {
  const calls =
    (ask: Record<string, unknown>) =>
    (n: number): Calls | null => {
      if (n === 999) return [{ name: "recall", input: ask }];
      return n % 100 <= 12 ? look(n) : null;
    };
  const turns = [1, 101, 201, 301, 401, 501, 601].map((n) => `go ${n}`);

  it("finds a detail of turn 3 after three compactions", async () => {
    const model = longModel({ calls: calls({ query: "vault code of item 205" }) });
    const embedded = embed({ agents: [longAgent()], model });
    const run = await play(embedded, ...turns, "go 999");
    expect(eventsOf(run, "compaction.done").length).toBeGreaterThanOrEqual(3);
    const asked = model.requests.find((request) => JSON.stringify(request.messages.at(-1)).includes("go 999"));
    expect(asked?.tools.map(({ name }) => name)).toContain("recall");
    expect(textOfRequest(asked ?? { messages: [] })).not.toContain(detailOf(205));
    const found = eventsOf(run, "call.finished").find(({ tool }) => tool === "recall")?.outcome;
    if (found?.status !== "success") throw new Error("recall failed");
    const [best] = (found.output as { passages: { version: number; turn: number; from: string; text: string }[] })
      .passages;
    expect(best).toMatchObject({ turn: 3, from: "tool look" });
    expect(best?.text).toContain(detailOf(205));
    // The version leads back to the whole of it.
    const at = run.checkpoints[(best?.version ?? 0) - 1];
    expect(JSON.stringify(at?.event)).toContain(detailOf(205));
  });

  it("reads a whole version, which stubs refer to", async () => {
    const model = longModel({ calls: calls({ query: "x", version: 4 }) });
    const run = await play(embed({ agents: [longAgent()], model }), ...turns, "go 999");
    const found = eventsOf(run, "call.finished").find(({ tool }) => tool === "recall")?.outcome;
    expect(found).toMatchObject({ output: { version: 4, turn: 1, from: "tool look" } });
    expect(JSON.stringify(found)).toContain(detailOf(1));
  });

  it("is offered once something is not shown any more, and not before", async () => {
    const model = longModel({ calls: calls({ query: "x" }) });
    const run = await play(embed({ agents: [longAgent()], model }), ...turns);
    const first = eventsOf(run, "compaction.done").length > 0;
    const has = model.requests.map(({ tools }) => tools.some(({ name }) => name === "recall"));
    expect([first, has[0], has.at(-1)]).toEqual([true, false, true]);
    expect(has.lastIndexOf(false)).toBeLessThan(has.indexOf(true));
  });

  it("finds Chinese words inside a sentence, and nothing of another session", async () => {
    const model = longModel({
      calls: (n) => (n === 999 ? [{ name: "recall", input: { query: "退款金额" } }] : null),
    });
    const embedded = embed({ agents: [longAgent({ context: "sliding-window", windowTokens: 500 })], model });
    await embedded.send("他人的退款金额是9999元 go 2", { key: "agent:other" });
    await embedded.idle();
    const run = await play(
      embedded,
      "客户C-1042的退款金额是三百欧元 go 2",
      ...Array(30).fill("天气很好 go 2"),
      "go 999",
    );
    const found = JSON.stringify(eventsOf(run, "call.finished")[0]?.outcome);
    expect(found).toContain("三百欧元");
    expect(found).not.toContain("9999");
    expect(await readRun(embedded, run.sessionId)).toEqual(run);
  });
});
