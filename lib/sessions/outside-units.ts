// Units as they are shown outside: times ISO 8601 UTC, money as decimal US dollars with its integer beside it.
import type { Usage } from "../core/content.ts";

/** ISO 8601 UTC of epoch milliseconds. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** `1234567` micro-dollars -> `"1.234567"`. Integer arithmetic only. */
export function usd(micros: number): string {
  const sign = micros < 0 ? "-" : "";
  const whole = Math.abs(micros);
  return `${sign}${Math.floor(whole / 1_000_000)}.${String(whole % 1_000_000).padStart(6, "0")}`;
}

export type ShownUsage = Usage & { usd: string; usdMicros: number };

export function shownUsage(usage: Usage & { usdMicros: number }): ShownUsage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, usdMicros } = usage;
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, usd: usd(usdMicros), usdMicros };
}
