import type { ToolContext } from "baton";
import { describe, expect, it } from "vitest";
import agent, { lookUpOrder, noteTicket, refund } from "./agent.ts";
import { desk, openDesk } from "./desk.ts";

function context(key: string): ToolContext {
  const nothing = () => undefined;
  const place = { tenant: "t", user: "u", key: "agent:desk:cli:dm:u", sessionId: "s", turn: 1, round: 1 };
  return { ...place, idempotencyKey: key, signal: new AbortController().signal, log: nothing, progress: nothing };
}

describe("support-desk", () => {
  it("has one tool of each effect", () => {
    expect(agent.tools.map(({ name, effect }) => [name, effect])).toEqual([
      ["look_up_order", "read"],
      ["refund", "once"],
      ["note_ticket", "idempotent"],
    ]);
  });

  it("asks a person only for refunds above 50.00", () => {
    const ruleFor = (amountCents: number) =>
      typeof refund.approval === "function" ? refund.approval({ amountCents }, context("k")) : "static";
    expect(ruleFor(5000)).toBeNull();
    expect(ruleFor(5001)).toEqual({ approvers: ["lead@shop.example"], expiresIn: "1d" });
  });

  it("refunds once per key, and verifies only what it knows (G2)", async () => {
    const input = { orderId: "O-2001", amountCents: 1000, reason: "scratch" };
    expect(await refund.verify?.("k1", input, context("k1"))).toBe("unknown");
    const first = await refund.run(input, context("k1"));
    expect(await refund.run(input, context("k1"))).toEqual(first);
    expect(await refund.verify?.("k1", input, context("k1"))).toEqual({ status: "done", result: first });
    expect(await lookUpOrder.run({ orderId: "O-2001" }, context("k2"))).toMatchObject({ refundedCents: 1000 });
  });

  it("never pays back more than was paid", () => {
    const shop = openDesk();
    shop.refund("a", "O-2003", 4000);
    expect(() => shop.refund("b", "O-2003", 1001)).toThrow(/at most 1000 cents of O-2003/);
    expect(shop.refund("b", "O-2003", 1000)).toMatchObject({ amountCents: 1000 });
  });

  it("writes a note once however often it runs with the same key", async () => {
    const note = { ticketId: "T-7", text: "refunded" };
    await noteTicket.run(note, context("n1"));
    await noteTicket.run(note, context("n1"));
    expect([...desk.notes.values()]).toEqual([note]);
  });
});
