// Which facts a turn is shown: those that stood when it began, so that the beginning of its requests stays the same from
// call to call. All of them if they fit, else those nearest to what the user asks.
import type { ShownFact } from "../context/carried-state.ts";
import { contextBudget, estimateTokens } from "../estimate.ts";
import type { Fact } from "../memory.ts";
import { utcDay, utcDayNumber } from "../utc-day.ts";

/** Most tokens of facts in a request: a twentieth of its budget, at most 2,000. */
export function factBudget(model: { windowTokens: number; maxTokens: number }): number {
  return Math.min(2000, Math.floor(contextBudget(model) / 20));
}

/** Facts as they stood at `at` (epoch ms), oldest first. What was deleted since is gone for every turn. */
export function factsAt(facts: readonly Fact[], at: number): Fact[] {
  return facts
    .filter(({ storedAt, closedAt }) => storedAt <= at && (closedAt === undefined || closedAt > at))
    .toSorted((a, b) => a.validFrom - b.validFrom || (a.id < b.id ? -1 : 1));
}

/** Do all of them fit? Then nobody has to choose. */
export function allFit(facts: readonly Fact[], maxTokens: number): boolean {
  return facts.reduce((sum, fact) => sum + sizeOf(fact), 0) <= maxTokens;
}

/** `nearest` is asked only when not all fit: indexes of `facts`, the nearest first. */
export function fitFacts(facts: readonly Fact[], maxTokens: number, nearest: () => readonly number[]): Fact[] {
  if (allFit(facts, maxTokens)) return [...facts];
  const sizes = facts.map(sizeOf);
  const chosen = new Set<number>();
  let left = maxTokens;
  for (const index of nearest()) {
    const size = sizes[index] ?? Number.POSITIVE_INFINITY;
    if (size > left || chosen.has(index)) continue;
    left -= size;
    chosen.add(index);
  }
  return facts.filter((_, index) => chosen.has(index));
}

function sizeOf(fact: Fact): number {
  const { text, source = "" } = showFact(fact);
  return estimateTokens(`| ${text} (from the user, ${source})\n`);
}

export function showFact({ text, origin, source, validFrom }: Fact): ShownFact {
  return {
    text,
    origin,
    source: `${utcDay(utcDayNumber(validFrom))}, session ${source.sessionId} turn ${source.turn}`,
  };
}
