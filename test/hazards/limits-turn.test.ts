// What bounds a turn besides money: rounds, wall-clock, the same call again and again.
import { defineAgent, defineTool } from "baton";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { Approval } from "../../lib/core/approval.ts";
import type { Limits } from "../../lib/core/limits.ts";
import type { ReplyLine } from "../../lib/demo-model/script-line.ts";
import { decideApproval } from "../../lib/sessions/approvals/decide-approval.ts";
import { settledTurn } from "../../lib/sessions/wait.ts";
import { embed } from "../../lib/testing/embed.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { scriptedModel } from "../../lib/testing/scripted-model.ts";

const minute = 60_000;

function setUp(limits: Partial<Limits>, lines: ReplyLine[], options: { tookMs?: number } = {}) {
  const clock = fakeClock();
  let runs = 0;
  const tool = defineTool({
    name: "look",
    description: "looks",
    input: z.object({ n: z.int(), note: z.string().optional() }),
    effect: "read",
    run: ({ n }) => {
      runs++;
      clock.set(clock.now() + (options.tookMs ?? 0));
      return { n };
    },
  });
  const agent = defineAgent({ name: "worker", instructions: "x", model: { id: "scripted" }, tools: [tool], limits });
  const model = scriptedModel(lines);
  const embedded = embed({ agents: [agent], model, clock });
  return {
    clock,
    model,
    embedded,
    runs: () => runs,
    async play() {
      const { sessionId } = await embedded.send("go");
      await embedded.idle();
      const end = await settledTurn(embedded.deps, "acme", sessionId, 1);
      const log = await embedded.deps.store.log.events("acme", sessionId, 0);
      return {
        end,
        results: log.flatMap(({ event }) => (event.type === "call.finished" ? [event.outcome.status] : [])),
      };
    },
  };
}

const look = (n: number): ReplyLine => ({ calls: [{ name: "look", input: { n } }] });
const different = (count: number) => Array.from({ length: count }, (_, i) => look(i));

describe("a turn", () => {
  it("ends after its rounds, its work kept, and the next one begins anew", async () => {
    const at = setUp({ roundsPerTurn: 3 }, [...different(3), { text: "fresh" }]);
    const { end } = await at.play();
    expect(end).toMatchObject({ status: "error", endReason: "rounds" });
    expect(end?.answer).toContain("limit of rounds");
    expect([at.model.left(), at.runs()]).toEqual([1, 3]);
    const { sessionId } = await at.embedded.send("again");
    await at.embedded.idle();
    expect(await settledTurn(at.embedded.deps, "acme", sessionId, 2)).toMatchObject({ answer: "fresh" });
  });

  it("that answers in its last round is complete", async () => {
    const { end } = await setUp({ roundsPerTurn: 3 }, [...different(2), { text: "in time" }]).play();
    expect(end).toMatchObject({ endReason: "completed", answer: "in time" });
  });

  it("ends at its time limit at the next step boundary: not at it, only beyond it", async () => {
    const at = setUp({ turnMinutes: 30 }, [...different(2), { text: "in time" }], { tookMs: 15 * minute });
    expect((await at.play()).end).toMatchObject({ endReason: "completed" });
    const late = setUp({ turnMinutes: 30 }, [...different(3), { text: "too late" }], { tookMs: 15 * minute + 1 });
    const { end } = await late.play();
    expect(end).toMatchObject({ status: "error", endReason: "turn_minutes" });
    expect(end?.answer).toContain("time limit");
    expect(late.runs()).toBe(2);
  });

  it("does not count the time that people need to decide", async () => {
    const clock = fakeClock();
    const send = defineTool({
      name: "send",
      description: "sends",
      input: z.object({}),
      effect: "once",
      approval: { approvers: ["boss@example.com"], expiresIn: "7d" },
      run: () => "sent",
    });
    const limits = { turnMinutes: 30 };
    const agent = defineAgent({ name: "asker", instructions: "x", model: { id: "s" }, tools: [send], limits });
    const model = scriptedModel([{ calls: [{ name: "send", input: {} }] }, { text: "done" }]);
    const { deps, send: say, idle } = embed({ agents: [agent], model, clock });
    const { sessionId } = await say("go");
    let asked: Approval | undefined;
    while (!asked) {
      await new Promise((resolve) => setImmediate(resolve));
      const head = await deps.store.log.head("acme", sessionId);
      const call = head?.state.turn?.calls[0];
      const stored = call?.approvalId ? await deps.store.approvals.get("acme", call.approvalId) : null;
      if (stored?.taskToken) asked = stored.approval;
    }
    clock.set(clock.now() + 3 * 24 * 60 * minute);
    await decideApproval(
      deps,
      { tenant: "acme", id: asked.id },
      { by: "boss@example.com", via: "signin", decision: "approve", shownHash: asked.inputHash },
    );
    await idle();
    expect(await settledTurn(deps, "acme", sessionId, 1)).toMatchObject({ endReason: "completed", answer: "done" });
  });
});

describe("the same call again and again", () => {
  it("is told at the limit, not run from then on, and ends the turn at twice of it", async () => {
    const at = setUp(
      { sameCall: 3 },
      Array.from({ length: 10 }, () => look(1)),
    );
    const { end, results } = await at.play();
    expect(end).toMatchObject({ status: "error", endReason: "loop" });
    expect(at.runs()).toBe(2);
    expect(results).toEqual(["success", "success"]);
    expect(at.model.requests.length).toBe(6);
    expect(JSON.stringify(at.model.requests[3]?.messages.at(-1))).toContain("3 times in a row with the same arguments");
  });

  it("is the same whatever the order of its arguments, and another call in between begins anew", async () => {
    const turned: ReplyLine[] = [
      { calls: [{ name: "look", input: { n: 1, note: "a" } }] },
      { calls: [{ name: "look", input: { note: "a", n: 1 } }] },
    ];
    const at = setUp({ sameCall: 2 }, [...turned, look(2), look(1), look(2), look(1), { text: "done" }]);
    const { end } = await at.play();
    expect(end).toMatchObject({ endReason: "completed" });
    expect(at.runs()).toBe(5);
  });
});
