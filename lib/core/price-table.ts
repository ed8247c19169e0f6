// The one data file of prices: public list prices of the Messages API, standard rate, cache writes for five minutes; and of
// embeddings, which have input only.
// Whole micro-dollars per million tokens: 3_000_000 is $3. Batch, fast-mode and regional rates are not in it.

export const priceTable = {
  /** Day for which the prices hold. */
  date: "2026-10-24",
  source:
    "Anthropic API documentation, page Pricing (model pricing, prompt caching), through public price lists that cite it",
  models: {
    "claude-fable-5-1": { input: 10_000_000, output: 50_000_000, cacheWrite: 12_500_000, cacheRead: 250_000 },
    "claude-fable-5": { input: 10_000_000, output: 50_000_000, cacheWrite: 12_500_000, cacheRead: 1_000_000 },
    "claude-opus-5-5": { input: 4_000_000, output: 20_000_000, cacheWrite: 5_000_000, cacheRead: 200_000 },
    "claude-opus-5": { input: 5_000_000, output: 25_000_000, cacheWrite: 6_250_000, cacheRead: 500_000 },
    "claude-opus-4-8": { input: 5_000_000, output: 25_000_000, cacheWrite: 6_250_000, cacheRead: 500_000 },
    "claude-opus-4-7": { input: 5_000_000, output: 25_000_000, cacheWrite: 6_250_000, cacheRead: 500_000 },
    "claude-opus-4-6": { input: 5_000_000, output: 25_000_000, cacheWrite: 6_250_000, cacheRead: 500_000 },
    "claude-opus-4-5": { input: 5_000_000, output: 25_000_000, cacheWrite: 6_250_000, cacheRead: 500_000 },
    "claude-opus-4-1": { input: 15_000_000, output: 75_000_000, cacheWrite: 18_750_000, cacheRead: 1_500_000 },
    "claude-opus-4-0": { input: 15_000_000, output: 75_000_000, cacheWrite: 18_750_000, cacheRead: 1_500_000 },
    "claude-opus-4": { input: 15_000_000, output: 75_000_000, cacheWrite: 18_750_000, cacheRead: 1_500_000 },
    "claude-sonnet-5-5": { input: 2_000_000, output: 10_000_000, cacheWrite: 2_500_000, cacheRead: 100_000 },
    "claude-sonnet-5": { input: 2_000_000, output: 10_000_000, cacheWrite: 2_500_000, cacheRead: 200_000 },
    "claude-sonnet-4-6": { input: 3_000_000, output: 15_000_000, cacheWrite: 3_750_000, cacheRead: 300_000 },
    "claude-sonnet-4-5": { input: 3_000_000, output: 15_000_000, cacheWrite: 3_750_000, cacheRead: 300_000 },
    "claude-sonnet-4-0": { input: 3_000_000, output: 15_000_000, cacheWrite: 3_750_000, cacheRead: 300_000 },
    "claude-sonnet-4": { input: 3_000_000, output: 15_000_000, cacheWrite: 3_750_000, cacheRead: 300_000 },
    "claude-haiku-5-5": {
      input: 100_000,
      output: 500_000,
      cacheWrite: 125_000,
      cacheRead: 10_000,
      long: { overTokens: 100_000, input: 500_000, output: 2_500_000, cacheWrite: 625_000, cacheRead: 50_000 },
    },
    "claude-haiku-4-5": { input: 1_000_000, output: 5_000_000, cacheWrite: 1_250_000, cacheRead: 100_000 },
    // Amazon Bedrock, page Pricing, on demand: $0.00002 per 1,000 input tokens, through public price lists that cite it
    // (2026-11-30).
    "amazon.titan-embed-text-v2:0": { input: 20_000, output: 0, cacheWrite: 0, cacheRead: 0 },
    "claude-3-5-haiku": { input: 800_000, output: 4_000_000, cacheWrite: 1_000_000, cacheRead: 80_000 },
  },
} as const;
