// From what a model found to what will be written: grounded, compared with what is known, bounded. Add, update (the old one
// ends, both stay), or nothing.
import { type Fact, maxFactChars } from "../memory.ts";
import { addsNothing } from "./adds-nothing.ts";
import type { Extraction } from "./extraction.ts";

/** One sentence of the user, and the message it stands in. */
export type OwnSentence = { text: string; message: number };

export type FactPlan = {
  add: Fact[];
  /** Facts that end, if their text is still the one that was compared. */
  close: { id: string; revision: number; validTo: number; replacedBy?: string }[];
  /** Why something that was found is not taken. */
  refused: ("no_such_sentence" | "not_together" | "too_long" | "known")[];
};

export type Planning = {
  sentences: readonly OwnSentence[];
  /** Facts by the numbers that the model saw, from 1. */
  shown: readonly Fact[];
  /** All facts of the user that hold. */
  valid: readonly Fact[];
  source: Fact["source"];
  /** When it was said, epoch milliseconds. */
  saidAt: number;
  maxFacts: number;
  /** The id of the n-th new fact of this turn: the same for every attempt. */
  idOf: (n: number) => string;
};

export function planFacts(found: Extraction, planning: Planning): FactPlan {
  const plan: FactPlan = { add: [], close: [], refused: [] };
  const ending = new Set<string>();
  for (const { sentences, kind, replaces } of found.facts) {
    const text = ground(sentences, planning.sentences);
    if (typeof text !== "string") {
      plan.refused.push(text.refused);
      continue;
    }
    const holding = [...planning.valid.filter(({ id }) => !ending.has(id)), ...plan.add];
    if (holding.some((fact) => addsNothing(text, fact.text))) {
      plan.refused.push("known");
      continue;
    }
    const { source, saidAt, idOf } = planning;
    const id = idOf(plan.add.length + 1);
    for (const number of replaces) {
      const old = planning.shown[number - 1];
      if (!old || ending.has(old.id)) continue;
      ending.add(old.id);
      plan.close.push({ ...closing(old, saidAt), replacedBy: id });
    }
    plan.add.push({ id, text, kind, source, origin: "user", validFrom: saidAt, storedAt: 0, revision: 1 });
  }
  const over = planning.valid.length - ending.size + plan.add.length - planning.maxFacts;
  const oldest = planning.valid
    .filter(({ id }) => !ending.has(id))
    .toSorted((a, b) => a.validFrom - b.validFrom || (a.id < b.id ? -1 : 1));
  for (const old of oldest.slice(0, Math.max(0, over))) plan.close.push(closing(old, planning.saidAt));
  return { ...plan, add: plan.add.slice(-planning.maxFacts) };
}

/** The sentences' own text; a number that names none is never taken, whatever else the answer holds. */
function ground(
  numbers: readonly number[],
  own: readonly OwnSentence[],
): string | { refused: FactPlan["refused"][number] } {
  const order = [...new Set(numbers)].sort((a, b) => a - b);
  const named = order.map((number) => own[number - 1]);
  const sentences = named.filter((sentence) => sentence !== undefined);
  const [first] = sentences;
  if (!first || sentences.length < named.length) return { refused: "no_such_sentence" };
  const together = order.every((number, index) => index === 0 || number === (order[index - 1] ?? 0) + 1);
  if (!together || sentences.some(({ message }) => message !== first.message)) return { refused: "not_together" };
  const text = sentences.map((sentence) => sentence.text).join(" ");
  return text.length > maxFactChars ? { refused: "too_long" } : text;
}

function closing(fact: Fact, validTo: number): FactPlan["close"][number] {
  return { id: fact.id, revision: fact.revision, validTo: Math.max(validTo, fact.validFrom) };
}
