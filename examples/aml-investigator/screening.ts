// Screens the names a customer deals with against the sanctions list. A hit is a question for a person, not a
// verdict: it says which listed spelling matched, how well, and why.
import * as z from "zod";
import listData from "./data/sanctions.json" with { type: "json" };
import { type Transaction, totalCents } from "./ledger.ts";
import { matchNames, type PreparedName, prepareName } from "./match-name.ts";

/** Points from which a match is reported. Below it stand pairs such as one common name in two. */
export const hitThreshold = 86;

export type Hit = {
  counterparty: string;
  listId: string;
  listedName: string;
  /** The spelling on the list that matched best. */
  matchedName: string;
  program: string;
  listedOn: string;
  /** 0–100 points. */
  score: number;
  explanation: string;
  transactionIds: string[];
  amountCents: number;
};

const row = z.tuple([
  z.string(),
  z.enum(["person", "entity"]),
  z.string(),
  z.array(z.string()),
  z.string(),
  z.iso.date(),
  z.int(),
]);

type Listed = { id: string; name: string; program: string; listedOn: string; spellings: PreparedName[] };

const list: Listed[] = z
  .array(row)
  .parse(listData.rows)
  .map(([id, , name, aliases, program, listedOn]) => ({
    id,
    name,
    program,
    listedOn,
    spellings: [name, ...aliases].map(prepareName),
  }));

export const listVersion = listData.listVersion;
export const listSize = list.length;

type NameHit = Omit<Hit, "transactionIds" | "amountCents">;

/** The best hit for one name, or null. Of equal spellings the one in the same script is shown. */
export function screenName(name: string): NameHit | null {
  const asked = prepareName(name);
  let best: { listed: Listed; spelling: PreparedName; score: number; reasons: string[] } | null = null;
  for (const listed of list) {
    for (const spelling of listed.spellings) {
      const { score, reasons } = matchNames(asked, spelling);
      const sameScript = spelling.script === asked.script && best?.spelling.script !== asked.script;
      if (!best || score > best.score || (score === best.score && sameScript))
        best = { listed, spelling, score, reasons };
    }
  }
  if (!best || best.score < hitThreshold) return null;
  const { listed, spelling, score, reasons } = best;
  return {
    counterparty: name,
    listId: listed.id,
    listedName: listed.name,
    matchedName: spelling.original,
    program: listed.program,
    listedOn: listed.listedOn,
    score,
    explanation: reasons.length > 0 ? reasons.join("; ") : "the names are the same",
  };
}

/** Distinct counterparties of some transactions, in order of appearance. */
export function counterpartiesOf(transactions: readonly Transaction[]): string[] {
  return [...new Set(transactions.map((transaction) => transaction.counterparty).filter((name) => name !== ""))];
}

/** Hits among the counterparties, best first. */
export function screenTransactions(transactions: readonly Transaction[]): Hit[] {
  const hits = counterpartiesOf(transactions).flatMap((name): Hit[] => {
    const hit = screenName(name);
    if (!hit) return [];
    const paid = transactions.filter((transaction) => transaction.counterparty === name);
    return [{ ...hit, transactionIds: paid.map(({ id }) => id), amountCents: totalCents(paid) }];
  });
  return hits.sort((a, b) => b.score - a.score || a.listId.localeCompare(b.listId));
}
