import { type ApprovalRule, defineAgent, defineTool } from "baton";
import { allCrashPoints, type Decide } from "baton/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";

/** The outside world, which remembers over all crashes of one call of allCrashPoints. */
function payer(options: { verify?: boolean; approval?: ApprovalRule }) {
  const paid = new Set<string>();
  const pay = defineTool({
    name: "pay",
    description: "pays",
    input: z.object({ cents: z.int() }),
    effect: "once",
    run: (_, ctx) => {
      paid.add(ctx.idempotencyKey);
      return { receipt: "R-1" };
    },
    ...(options.approval ? { approval: options.approval } : {}),
    ...(options.verify
      ? {
          verify: (key: string) =>
            paid.has(key) ? ({ status: "done", result: { receipt: "R-1" } } as const) : ("not_done" as const),
        }
      : {}),
  });
  const agent = defineAgent({ name: "payer", instructions: "Pay.", model: { id: "scripted" }, tools: [pay] });
  return { agent, paid };
}
const script = [{ calls: [{ name: "pay", input: { cents: 5 } }] }, { text: "Paid." }];
const approval = { approvers: ["ann@bank.example"] };

describe("allCrashPoints", () => {
  it("finds the points after which a `once` tool without verify waits for people: its effect, and nothing else (G2)", async () => {
    const { agent } = payer({});
    const { tried, differing, repeated } = await allCrashPoints(agent, script);
    expect(tried).toBeGreaterThan(20);
    expect(repeated).toEqual([]);
    expect(differing.length).toBeGreaterThan(0);
    for (const { history } of differing) {
      expect(history.at(-1)).toMatchObject({ type: "approval.requested", kind: "in_doubt", tool: "pay" });
    }
  }, 60_000);

  it("plays to the end when people answer what is asked: a call that needs approval comes to one end (G3, G10)", async () => {
    const { agent } = payer({ verify: true, approval });
    const decide: Decide = ({ kind }) => ({ decision: kind === "call" ? "approve" : "give_up" });
    const { tried, differing, repeated } = await allCrashPoints(agent, script, { decide });
    expect(tried).toBeGreaterThan(20);
    expect({ differing, repeated }).toEqual({ differing: [], repeated: [] });
  }, 60_000);
});
