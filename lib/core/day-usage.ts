// What a session used, by UTC day and model: kept in its snapshot, so that the usage report needs no event to be
// read again and can be written any number of times.
import type { Usage } from "./content.ts";
import { utcDayNumber } from "./utc-day.ts";

export type Spent = Usage & { usdMicros: number };

/** Input, output, cache read, cache write tokens, micro-dollars: short, since it stands in every checkpoint. */
export type SpentTuple = [number, number, number, number, number];

/** `day`: days since 1970-01-01 UTC. */
export type DayUsage = { day: number; models: Record<string, SpentTuple> };

/** A turn that touches more days than this (it waited for people) has its oldest days counted together. */
const maxDays = 8;
/** Models of one day that are told apart; what comes beyond is counted as "other". */
const maxModels = 12;

/** `days` (oldest first) with one model call more, at `at` (epoch ms). A clock that steps back counts on the latest day. */
export function addToDay(
  days: readonly DayUsage[],
  call: { at: number; model: string; usage: Usage; usdMicros: number },
): DayUsage[] {
  const { usage, usdMicros } = call;
  const tuple: SpentTuple = [
    usage.inputTokens,
    usage.outputTokens,
    usage.cacheReadTokens,
    usage.cacheWriteTokens,
    usdMicros,
  ];
  if (tuple.every((amount) => amount === 0)) return [...days];
  const last = days.at(-1);
  const day = Math.max(utcDayNumber(call.at), last?.day ?? 0);
  const before = last?.day === day ? last.models : {};
  const name = before[call.model] || Object.keys(before).length < maxModels ? call.model : "other";
  const entry: DayUsage = { day, models: { ...before, [name]: sum(before[name], tuple) } };
  return shortened(last?.day === day ? [...days.slice(0, -1), entry] : [...days, entry]);
}

/** The tuple as named amounts. */
export function spentOf([inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, usdMicros]: SpentTuple): Spent {
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, usdMicros };
}

export function addSpent(a: Spent, b: Spent): Spent {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    usdMicros: a.usdMicros + b.usdMicros,
  };
}

function shortened(days: DayUsage[]): DayUsage[] {
  const [oldest, next, ...rest] = days;
  if (days.length <= maxDays || !oldest || !next) return days;
  const models = { ...oldest.models };
  for (const [model, tuple] of Object.entries(next.models)) models[model] = sum(models[model], tuple);
  return [{ day: oldest.day, models }, ...rest];
}

function sum(a: SpentTuple = [0, 0, 0, 0, 0], b: SpentTuple): SpentTuple {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4]];
}
