// What a model needs of a customer's transactions: totals, and the dozen worth a look. Three hundred rows in a
// context cost money in every later call and hide what matters.
import { type Customer, customerById, type Transaction, totalCents, transactionsOf } from "./ledger.ts";
import { cashReportingCents, highRiskCountries } from "./risk.ts";

const mostNotable = 12;

export type Summary = {
  customerId: string;
  customer: Omit<Customer, "id">;
  period: { from: string; to: string };
  count: number;
  receivedCents: number;
  sentCents: number;
  byChannel: { channel: string; direction: "in" | "out"; count: number; amountCents: number }[];
  /** The most telling ones, oldest first. `memo` is a stranger's text. */
  notable: (Omit<Transaction, "memo"> & { memo: string; why: string[] })[];
  /** How many more were worth naming. */
  notableLeftOut: number;
};

export function summarise(customerId: string): Summary {
  const { id: _, ...customer } = customerById(customerId);
  const transactions = transactionsOf(customerId);
  const notable = transactions
    .map((transaction) => ({ ...transaction, why: reasons(transaction) }))
    .filter(({ why }) => why.length > 0)
    .sort((a, b) => b.why.length - a.why.length || b.amountCents - a.amountCents || a.id.localeCompare(b.id));
  return {
    customerId,
    customer,
    period: { from: transactions.at(0)?.at ?? "", to: transactions.at(-1)?.at ?? "" },
    count: transactions.length,
    receivedCents: totalCents(transactions.filter((t) => t.direction === "in")),
    sentCents: totalCents(transactions.filter((t) => t.direction === "out")),
    byChannel: byChannel(transactions),
    notable: notable.slice(0, mostNotable).sort((a, b) => a.id.localeCompare(b.id)),
    notableLeftOut: Math.max(0, notable.length - mostNotable),
  };
}

function reasons(t: Transaction): string[] {
  return [
    ...(t.channel === "cash" && t.amountCents >= cashReportingCents * 0.8 && t.amountCents < cashReportingCents
      ? ["cash just under the reporting limit"]
      : []),
    ...(highRiskCountries.has(t.country) ? ["high-risk country"] : []),
    ...(t.channel === "wire" && t.amountCents >= 1_000_000 ? ["large wire"] : []),
    ...(t.amountCents >= 500_000 && t.amountCents % 100_000 === 0 ? ["round amount"] : []),
  ];
}

function byChannel(transactions: readonly Transaction[]): Summary["byChannel"] {
  const groups = Map.groupBy(transactions, (t) => `${t.channel} ${t.direction}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { channel, direction } = first;
    return [{ channel, direction, count: group.length, amountCents: totalCents(group) }];
  });
}
