// The second example, small on purpose: one tool of each effect, and an approval that depends on the amount.
import { defineAgent, defineTool } from "baton";
import * as z from "zod";
import { desk, type Refund } from "./desk.ts";

/** Refunds above this need a person. */
export const freeRefundCents = 5000;

const orderId = z.string().regex(/^O-\d{4}$/, 'as in "O-2001"');

export const lookUpOrder = defineTool({
  name: "look_up_order",
  description: "An order with what was paid and what was refunded already, in integer cents.",
  input: z.object({ orderId }),
  effect: "read",
  run: (input) => ({ ...desk.order(input.orderId), refundedCents: desk.refundedCents(input.orderId) }),
});

export const refund = defineTool({
  name: "refund",
  description: "Pays money back for an order. Cannot be undone. Above 50.00 a team lead is asked first.",
  input: z.object({ orderId, amountCents: z.int().positive(), reason: z.string().min(1).max(500) }),
  effect: "once",
  approval: ({ amountCents }) =>
    amountCents > freeRefundCents ? { approvers: ["lead@shop.example"], expiresIn: "1d" } : null,
  verify: (key) => {
    const done = desk.refundOf(key);
    // In memory: after a restart this desk knows nothing, so it cannot say that the refund did not happen.
    return done ? { status: "done", result: done } : "unknown";
  },
  resources: ({ refundId }: Refund) => [refundId],
  run: (input, ctx) => desk.refund(ctx.idempotencyKey, input.orderId, input.amountCents),
});

export const noteTicket = defineTool({
  name: "note_ticket",
  description: "Writes a note on a support ticket for colleagues: what the customer wanted and what was done.",
  input: z.object({ ticketId: z.string().min(1).max(40), text: z.string().min(1).max(2000) }),
  effect: "idempotent",
  run: (input, ctx) => desk.note(ctx.idempotencyKey, input),
});

export default defineAgent({
  name: "support-desk",
  instructions: `You are the support desk of a web shop. Look the order up before you promise anything. Refund what is fair, at most
what was paid, and say plainly when a colleague has to agree first. Note on the ticket what was done. Never say that
money was refunded unless the refund tool answered with a refundId. Amounts are integer cents; write 42900 as 429.00.`,
  model: { id: "claude-sonnet-5-5", maxTokens: 1024 },
  tools: [lookUpOrder, refund, noteTicket],
  session: { reset: "idle", idleAfter: "12h" },
  limits: { roundsPerTurn: 20, usdPerSession: 1 },
});
