// What a model call costs. The table is data with its date; an agent's runtime may override any of it.
import type { Usage } from "./content.ts";
import { priceTable } from "./price-table.ts";

/** Whole micro-dollars (millionths of a US dollar) per million tokens: 3 dollars are 3_000_000. */
export type Price = { input: number; output: number; cacheWrite: number; cacheRead: number };

/** Prices by model id, without date or region. */
export type Prices = Readonly<Record<string, Price>>;

export const defaultPrices: Prices = priceTable.models;

/** Micro-dollars of one call, rounded up; 0 for a model without price, which `priceOf` tells apart from free. */
export function costMicros(model: string, usage: Usage, prices: Prices = defaultPrices): number {
  const price = priceOf(model, prices);
  if (!price) return 0;
  const millionfold =
    usage.inputTokens * price.input +
    usage.outputTokens * price.output +
    usage.cacheWriteTokens * price.cacheWrite +
    usage.cacheReadTokens * price.cacheRead;
  return Math.ceil(millionfold / 1_000_000);
}

/** The most a call can cost, for the reservation before it: nothing read from the cache, all of it written. */
export function worstCostMicros(
  model: string,
  size: { inputTokens: number; maxTokens: number },
  prices: Prices = defaultPrices,
): number {
  const price = priceOf(model, prices);
  if (!price) return 0;
  const input = size.inputTokens * Math.max(price.input, price.cacheWrite);
  return Math.ceil((input + size.maxTokens * price.output) / 1_000_000);
}

/** The price of a model; undefined when it has none: its calls count as 0 and no money limit can hold them. */
export function priceOf(model: string, prices: Prices = defaultPrices): Price | undefined {
  const exact = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (exact) return exact;
  const bare = bareModel(model);
  return Object.hasOwn(prices, bare) ? prices[bare] : undefined;
}

/** The id without region and vendor (`eu.anthropic.`), date (`-20250929`, `@20250929`, `-latest`) and version (`-v1:0`). */
function bareModel(model: string): string {
  return model
    .replace(/^(?:[a-z]{2,6}\.)?anthropic\./, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/[-@](?:\d{8}|latest)$/, "");
}
