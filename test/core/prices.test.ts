import { describe, expect, it } from "vitest";
import { noUsage } from "../../lib/core/content.ts";
import { costMicros, defaultPrices, priceOf, worstCostMicros } from "../../lib/core/prices.ts";

describe("costMicros", () => {
  const usage = { inputTokens: 1000, outputTokens: 200, cacheReadTokens: 10_000, cacheWriteTokens: 500 };

  it("adds the four kinds of tokens in whole micro-dollars", () => {
    // 1000 x 3 + 200 x 15 + 500 x 3.75 + 10000 x 0.3 dollars per million
    expect(costMicros("claude-sonnet-4-5", usage)).toBe(10_875);
  });

  it("takes the long rates for the whole request once its prompt is over the limit, caches included", () => {
    const at = { ...noUsage, inputTokens: 40_000, cacheReadTokens: 60_000, outputTokens: 1000 };
    expect(costMicros("claude-haiku-5-5", at)).toBe(4000 + 600 + 500);
    expect(costMicros("claude-haiku-5-5", { ...at, cacheWriteTokens: 1 })).toBe(20_000 + 3000 + 2500 + 1);
  });

  it("rounds up, so that no call is free by rounding", () => {
    expect(costMicros("claude-haiku-4-5", { ...noUsage, cacheReadTokens: 1 })).toBe(1);
  });

  it("knows a model by its dated, regional and Bedrock ids", () => {
    const ids = [
      "claude-sonnet-4-5-20250929",
      "claude-sonnet-4-5@20250929",
      "anthropic.claude-sonnet-4-5-20250929-v1:0",
      "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ];
    expect(ids.map((id) => priceOf(id))).toEqual(ids.map(() => defaultPrices["claude-sonnet-4-5"]));
  });

  it("counts an unknown model as 0 and says that it has no price", () => {
    expect([costMicros("local-llama", usage), priceOf("local-llama"), priceOf("toString")]).toEqual([
      0,
      undefined,
      undefined,
    ]);
  });

  it("takes other prices", () => {
    const prices = { "local-llama": { input: 1_000_000, output: 0, cacheWrite: 0, cacheRead: 0 } };
    expect(costMicros("local-llama", usage, prices)).toBe(1000);
    expect(costMicros("claude-sonnet-4-5", usage, prices)).toBe(0);
  });
});

describe("worstCostMicros", () => {
  it("is never under the real cost of a call of that size", () => {
    const real = { inputTokens: 300, cacheWriteTokens: 500, cacheReadTokens: 200, outputTokens: 100 };
    for (const model of Object.keys(defaultPrices)) {
      const worst = worstCostMicros(model, { inputTokens: 1000, maxTokens: 100 });
      expect(worst).toBeGreaterThanOrEqual(costMicros(model, real));
    }
  });
});
