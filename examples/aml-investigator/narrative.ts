// The narrative of a report, built from the facts alone: the same facts give the same text, byte for byte. A
// report to an authority must not hold anything that a model made up, and a repeated call must not change it.
import { caseIdOf, customerById, type Transaction, totalCents, transactionsOf } from "./ledger.ts";
import { formatCents } from "./money.ts";
import { type Assessment, assess } from "./risk.ts";
import { type Hit, listVersion, screenTransactions } from "./screening.ts";

export type CaseFacts = {
  caseId: string;
  transactions: Transaction[];
  hits: Hit[];
  assessment: Assessment;
};

/** Everything known about a customer. Throws `InvalidInput` for an unknown id. */
export function factsOf(customerId: string): CaseFacts {
  const customer = customerById(customerId);
  const transactions = transactionsOf(customerId);
  const hits = screenTransactions(transactions);
  return { caseId: caseIdOf(customerId), transactions, hits, assessment: assess({ customer, transactions, hits }) };
}

export function narrativeOf(customerId: string): string {
  const customer = customerById(customerId);
  const { caseId, transactions, hits, assessment } = factsOf(customerId);
  const { kyc } = customer;
  return [
    `Case ${caseId}: ${customer.name} (${customer.id})`,
    "",
    `Subject. ${customer.kind === "company" ? "Company" : "Person"}, customer since ${customer.since}; ` +
      `${kyc.occupation}; purpose of the account: ${kyc.purpose}; declared turnover ` +
      `${formatCents(kyc.declaredMonthlyCents)} a month.`,
    "",
    `Activity. ${activity(transactions)}`,
    "",
    "Findings.",
    ...list(assessment.findings, (f) => `${f.rule} (${f.points}): ${f.reason}. Evidence: ${shown(f.transactionIds)}.`),
    "",
    `Sanctions screening (list ${listVersion}).`,
    ...list(hits, (h) => {
      const who = `"${h.counterparty}" matches "${h.matchedName}" (${h.listId}, ${h.program}, listed ${h.listedOn})`;
      return `${who}, ${h.score} points: ${h.explanation}. ${formatCents(h.amountCents)} in ${shown(h.transactionIds)}.`;
    }),
    "",
    `Assessment. Risk score ${assessment.riskScore} of 100 (${assessment.level}); ` +
      `${formatCents(assessment.amountCents)} in transactions behind the findings.`,
  ].join("\n");
}

function activity(transactions: readonly Transaction[]): string {
  const received = transactions.filter((t) => t.direction === "in");
  const sent = transactions.filter((t) => t.direction === "out");
  const [first, last] = [transactions.at(0)?.at.slice(0, 10), transactions.at(-1)?.at.slice(0, 10)];
  return (
    `${transactions.length} transactions from ${first ?? "-"} to ${last ?? "-"}: ` +
    `${formatCents(totalCents(received))} received, ${formatCents(totalCents(sent))} sent.`
  );
}

function list<T>(items: readonly T[], line: (item: T) => string): string[] {
  return items.length === 0 ? ["- none"] : items.map((item) => `- ${line(item)}`);
}

/** At most eight ids: the full list is in the assessment. */
function shown(ids: readonly string[]): string {
  return ids.length <= 8 ? ids.join(", ") : `${ids.slice(0, 8).join(", ")} and ${ids.length - 8} more`;
}
