// The risk score: named rules, each with its points, its reason and the transactions that show it, so that
// an officer can check every point. Memo texts play no part: they are written by strangers.

import { type Customer, type Transaction, totalCents } from "./ledger.ts";
import { formatCents } from "./money.ts";
import type { Hit } from "./screening.ts";

export type Finding = {
  rule: "structuring" | "velocity" | "corridor" | "round_amounts" | "turnover" | "sanctions_hit";
  points: number;
  reason: string;
  transactionIds: string[];
};

export type RiskLevel = "low" | "medium" | "high" | "critical";

export type Assessment = {
  /** 0–100. */
  riskScore: number;
  level: RiskLevel;
  findings: Finding[];
  /** Total of the distinct transactions behind the findings. */
  amountCents: number;
  recommendation: "file_report" | "review" | "close";
};

/** The threshold from which cash is reported; structuring stays just under it. */
export const cashReportingCents = 1_000_000;
/** Invented countries: user-assigned ISO codes, Qarzan and Velmora. */
export const highRiskCountries = new Set(["XQ", "XV"]);

const hourMs = 3_600_000;

type Facts = { customer: Customer; transactions: readonly Transaction[]; hits: readonly Hit[] };

export function assess(facts: Facts): Assessment {
  const rules = [structuring, velocity, corridor, roundAmounts, turnover, sanctionsHit];
  const findings = rules.flatMap((rule) => rule(facts) ?? []);
  const riskScore = Math.min(
    100,
    findings.reduce((sum, finding) => sum + finding.points, 0),
  );
  const level = levelOf(riskScore);
  const flagged = new Set(findings.flatMap((finding) => finding.transactionIds));
  return {
    riskScore,
    level,
    findings,
    amountCents: totalCents(facts.transactions.filter(({ id }) => flagged.has(id))),
    recommendation: level === "low" ? "close" : level === "medium" ? "review" : "file_report",
  };
}

function levelOf(score: number): RiskLevel {
  if (score >= 75) return "critical";
  if (score >= 50) return "high";
  return score >= 25 ? "medium" : "low";
}

/** Three or more cash deposits of 80 to 100 % of the limit within ten days, together above it. */
function structuring({ transactions }: Facts): Finding | null {
  const near = transactions.filter(
    (t) =>
      t.channel === "cash" &&
      t.direction === "in" &&
      t.amountCents >= cashReportingCents * 0.8 &&
      t.amountCents < cashReportingCents,
  );
  const clustered = near.filter((t) => near.filter((u) => Math.abs(apartMs(t, u)) <= 240 * hourMs).length >= 3);
  if (clustered.length === 0) return null;
  const sum = formatCents(totalCents(clustered));
  const limit = formatCents(cashReportingCents);
  const reason = `${clustered.length} cash deposits just under ${limit}, ${sum} in all, at most ten days apart`;
  return { rule: "structuring", points: clustered.length >= 6 ? 35 : 25, reason, transactionIds: ids(clustered) };
}

/** At least 10,000.00 comes in and 80 % of it leaves the same account within 48 hours. */
function velocity({ transactions }: Facts): Finding | null {
  const legs = transactions
    .filter((t) => t.direction === "in" && t.channel === "wire" && t.amountCents >= 1_000_000)
    .flatMap((received) => {
      const out = transactions.filter(
        (t) =>
          t.direction === "out" &&
          t.account === received.account &&
          apartMs(received, t) >= 0 &&
          apartMs(received, t) <= 48 * hourMs,
      );
      return totalCents(out) * 10 >= received.amountCents * 8 ? [[received, ...out]] : [];
    });
  if (legs.length === 0) return null;
  const reason = `${legs.length} time(s) at least 80 % of an incoming wire left within 48 hours`;
  return { rule: "velocity", points: legs.length >= 3 ? 25 : 15, reason, transactionIds: ids(legs.flat()) };
}

/** 1,000.00 or more to or from a high-risk country. */
function corridor({ transactions }: Facts): Finding | null {
  const risky = transactions.filter((t) => highRiskCountries.has(t.country));
  if (totalCents(risky) < 100_000) return null;
  const countries = [...new Set(risky.map((t) => t.country))].join(", ");
  const reason = `${formatCents(totalCents(risky))} with high-risk countries (${countries})`;
  return { rule: "corridor", points: 15, reason, transactionIds: ids(risky) };
}

/** Three or more wires or transfers of 5,000.00 or more in whole thousands. */
function roundAmounts({ transactions }: Facts): Finding | null {
  const round = transactions.filter((t) => t.amountCents >= 500_000 && t.amountCents % 100_000 === 0);
  if (round.length < 3) return null;
  const reason = `${round.length} large amounts in whole thousands`;
  return { rule: "round_amounts", points: 10, reason, transactionIds: ids(round) };
}

/** A month with more than three times the turnover that the customer declared. */
function turnover({ customer, transactions }: Facts): Finding | null {
  const months = Map.groupBy(
    transactions.filter((t) => t.direction === "in"),
    (t) => t.at.slice(0, 7),
  );
  const over = [...months].filter(([, list]) => totalCents(list) > customer.kyc.declaredMonthlyCents * 3);
  if (over.length === 0) return null;
  const what = over.map(([month, list]) => `${month} ${formatCents(totalCents(list))}`).join(", ");
  const declared = formatCents(customer.kyc.declaredMonthlyCents);
  const largest = over.flatMap(([, list]) => list.filter((t) => t.amountCents > customer.kyc.declaredMonthlyCents));
  const reason = `incoming far above the declared ${declared} a month: ${what}`;
  return { rule: "turnover", points: 10, reason, transactionIds: ids(largest) };
}

function sanctionsHit({ hits }: Facts): Finding | null {
  const [best] = hits;
  if (!best) return null;
  const names = hits.map((hit) => `${hit.counterparty} ~ ${hit.listId} (${hit.score})`).join(", ");
  return {
    rule: "sanctions_hit",
    points: best.score >= 95 ? 40 : 30,
    reason: `${hits.length} counterparty name(s) match the sanctions list: ${names}`,
    transactionIds: hits.flatMap((hit) => hit.transactionIds),
  };
}

function apartMs(from: Transaction, to: Transaction): number {
  return Date.parse(to.at) - Date.parse(from.at);
}

function ids(list: readonly Transaction[]): string[] {
  return [...new Set(list.map(({ id }) => id))];
}
