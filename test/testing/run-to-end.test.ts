import { type ApprovalRule, defineAgent, defineFlow, defineTool, step } from "baton";
import { replayModel, runToEnd } from "baton/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";

const pay = (approval?: ApprovalRule) =>
  defineTool({
    name: "pay",
    description: "pays",
    input: z.object({ cents: z.int() }),
    effect: "once",
    run: ({ cents }) => ({ receipt: `R-${cents}` }),
    ...(approval ? { approval } : {}),
  });
const agentWith = (tool: ReturnType<typeof pay>) =>
  defineAgent({ name: "payer", instructions: "Pay.", model: { id: "scripted" }, tools: [tool] });
const script = [{ calls: [{ name: "pay", input: { cents: 5 } }] }, { text: "Paid." }];
const two = { approvers: ["ann@bank.example", "bob@bank.example"], quorum: 2 };

describe("runToEnd", () => {
  it("answers what the user was told, what ran and how often", async () => {
    const { answers, endReasons, status, calls, effects, waiting, events } = await runToEnd(agentWith(pay()), script);
    expect({ answers, endReasons, status, calls, waiting }).toEqual({
      answers: ["Paid."],
      endReasons: ["completed"],
      status: "completed",
      calls: [{ tool: "pay", input: { cents: 5 }, outcome: { status: "success", output: { receipt: "R-5" } } }],
      waiting: [],
    });
    expect(Object.values(effects)).toEqual([1]);
    expect(events.at(-1)?.type).toBe("turn.finished");
  });

  it("sends several messages to one session, one turn each", async () => {
    const { answers, events } = await runToEnd(agentWith(pay()), [{ text: "one" }, { text: "two" }], {
      messages: ["first", "second"],
    });
    expect(answers).toEqual(["one", "two"]);
    expect(events.filter(({ type }) => type === "session.created")).toHaveLength(1);
  });

  it("ends where people are needed and nobody decides: nothing has run", async () => {
    const { waiting, effects, status, answers } = await runToEnd(agentWith(pay(two)), script);
    expect(waiting).toMatchObject([{ tool: "pay", input: { cents: 5 }, status: "pending", approvers: two.approvers }]);
    expect({ effects, status, answers }).toEqual({ effects: {}, status: "paused", answers: [] });
  });

  it("asks `decide` until the quorum is there, then the call runs once", async () => {
    const asked: string[] = [];
    const { calls, effects } = await runToEnd(agentWith(pay(two)), script, {
      decide: ({ tool, decisions }) => {
        asked.push(`${tool} after ${decisions.length}`);
        return { decision: "approve" };
      },
    });
    expect(asked).toEqual(["pay after 0", "pay after 1"]);
    expect(calls.map(({ outcome }) => outcome.status)).toEqual(["success"]);
    expect(Object.values(effects)).toEqual([1]);
  });

  it("runs nothing that was rejected, and the model is told why", async () => {
    const { calls, effects } = await runToEnd(agentWith(pay(two)), script, {
      decide: () => ({ decision: "reject", comment: "too much" }),
    });
    expect(effects).toEqual({});
    expect(calls).toMatchObject([{ tool: "pay", input: { cents: 5 }, outcome: { status: "denied" } }]);
    expect(JSON.stringify(calls)).toContain("too much");
  });

  it("waits out a model that asks for patience without taking time, short or for hours", async () => {
    const { answers, endReasons } = await runToEnd(agentWith(pay()), [
      { fault: 429, retryAfter: 30 },
      { fault: 429, retryAfter: 13_262 },
      { fault: 529 },
      { text: "At last." },
    ]);
    expect({ answers, endReasons }).toEqual({ answers: ["At last."], endReasons: ["completed"] });
  });

  it("plays flows too, and takes any model", async () => {
    const flow = defineFlow({
      name: "payer",
      state: z.object({ said: z.string(), receipt: z.string().optional() }),
      initial: (input) => ({ said: input }),
      model: { id: "scripted" },
      steps: [
        step<{ said: string }>("words", { prompt: ({ said }) => said, into: (state, said) => ({ ...state, said }) }),
        step<{ said: string }>("pay", {
          tool: pay(),
          input: () => ({ cents: 7 }),
          into: (state, { receipt }) => ({ ...state, receipt }),
        }),
      ],
      answer: ({ said, receipt }) => `${said} ${receipt}`,
    });
    const { answers, calls } = await runToEnd(flow, replayModel([{ text: "Hello." }]), { messages: ["greet"] });
    expect(answers).toEqual(["Hello. R-7"]);
    expect(calls).toMatchObject([{ tool: "pay", input: { cents: 7 } }]);
  });

  it("says so when the script is shorter than the conversation", async () => {
    await expect(runToEnd(agentWith(pay()), script.slice(0, 1))).rejects.toThrow(
      "the script has 1 lines, and the agent asked 2 times: add lines",
    );
  });

  it("refuses a decision of somebody who was not asked", async () => {
    const decided = runToEnd(agentWith(pay(two)), script, {
      decide: () => ({ decision: "approve", by: "eve@x.example" }),
    });
    await expect(decided).rejects.toThrow("not_an_approver");
  });
});
