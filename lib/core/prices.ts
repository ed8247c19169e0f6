// What a model call costs. The table is data with its date; an agent's runtime may override any of it.
import * as z from "zod";
import type { Usage } from "./content.ts";
import { check } from "./define-tool.ts";
import { priceTable } from "./price-table.ts";

/** Whole micro-dollars (millionths of a US dollar) per million tokens: 3 dollars are 3_000_000. */
export type Rates = { input: number; output: number; cacheWrite: number; cacheRead: number };
/** `long`: the rates of a whole request whose prompt has more than `overTokens`, cache reads and writes included. */
export type Price = Rates & { long?: Rates & { overTokens: number } };

/** Prices by model id, without date or region. */
export type Prices = Readonly<Record<string, Price>>;

export const defaultPrices: Prices = priceTable.models;

const microsPerMillion = z.int().min(0);
const rates = {
  input: microsPerMillion,
  output: microsPerMillion,
  cacheWrite: microsPerMillion,
  cacheRead: microsPerMillion,
};
const priceFile = z.strictObject({
  date: z.string().optional(),
  source: z.string().optional(),
  models: z.record(
    z.string().min(1),
    z.strictObject({ ...rates, long: z.strictObject({ overTokens: z.int().min(1), ...rates }).optional() }),
  ),
});

/**
 * Prices in the form of the table, `{ "models": { "my-model": { "input": 3000000, … } } }`, laid over the table's own: they add to
 * it or replace an entry of it. Throws `InvalidDefinition` with the path of what does not fit; `what` names the file in it.
 */
export function parsePrices(value: unknown, what: string): Prices {
  return { ...defaultPrices, ...(check(priceFile, value, what).models as Prices) };
}

/** Micro-dollars of one call, rounded up; 0 for a model without price, which `priceOf` tells apart from free. */
export function costMicros(model: string, usage: Usage, prices: Prices = defaultPrices): number {
  const price = priceOf(model, prices);
  if (!price) return 0;
  const rates = ratesFor(price, usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens);
  const millionfold =
    usage.inputTokens * rates.input +
    usage.outputTokens * rates.output +
    usage.cacheWriteTokens * rates.cacheWrite +
    usage.cacheReadTokens * rates.cacheRead;
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
  const rates = ratesFor(price, size.inputTokens);
  const input = size.inputTokens * Math.max(rates.input, rates.cacheWrite);
  return Math.ceil((input + size.maxTokens * rates.output) / 1_000_000);
}

/** The price of a model; undefined when it has none: its calls count as 0 and no money limit can hold them. */
export function priceOf(model: string, prices: Prices = defaultPrices): Price | undefined {
  const exact = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (exact) return exact;
  const bare = bareModel(model);
  return Object.hasOwn(prices, bare) ? prices[bare] : undefined;
}

function ratesFor(price: Price, promptTokens: number): Rates {
  return price.long && promptTokens > price.long.overTokens ? price.long : price;
}

/** The id without region and vendor (`eu.anthropic.`), date (`-20250929`, `@20250929`, `-latest`) and version (`-v1:0`). */
function bareModel(model: string): string {
  return model
    .replace(/^(?:[a-z]{2,6}\.)?anthropic\./, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/[-@](?:\d{8}|latest)$/, "");
}
