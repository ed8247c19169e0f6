// The shop behind the desk, in memory: orders, refunds and ticket notes. Refunds and notes are kept by key, as a real
// payment service and ticket system would, so that a repeated request changes nothing.
import { InvalidInput } from "baton";
import orderData from "./orders.json" with { type: "json" };

export type Order = { orderId: string; customer: string; item: string; paidCents: number; status: string };
export type Refund = { refundId: string; orderId: string; amountCents: number };
export type Note = { ticketId: string; text: string };

/** A shop of its own, for a test; the tools take the one of the process. */
export function openDesk() {
  const refunds = new Map<string, Refund>();
  const notes = new Map<string, Note>();
  const order = (orderId: string): Order => {
    const found = orderData.find((candidate) => candidate.orderId === orderId);
    if (!found) throw new InvalidInput(`no order ${JSON.stringify(orderId)}`);
    return found;
  };
  const refundedCents = (orderId: string) =>
    [...refunds.values()].filter((r) => r.orderId === orderId).reduce((sum, r) => sum + r.amountCents, 0);
  return {
    notes,
    order,
    refundedCents,
    refundOf: (key: string) => refunds.get(key),
    /** Throws `InvalidInput` when more would go back than was paid. */
    refund(key: string, orderId: string, amountCents: number): Refund {
      const before = refunds.get(key);
      if (before) return before;
      const leftCents = order(orderId).paidCents - refundedCents(orderId);
      if (amountCents > leftCents) throw new InvalidInput(`at most ${leftCents} cents of ${orderId} can go back`);
      const refund = { refundId: `RF-${refunds.size + 1}`, orderId, amountCents };
      refunds.set(key, refund);
      return refund;
    },
    note(key: string, note: Note): Note {
      notes.set(key, note);
      return note;
    },
  };
}

export const desk = openDesk();
