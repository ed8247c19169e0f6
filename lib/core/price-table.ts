// The one data file of prices: public list prices for the Messages API, base rate, five-minute cache writes.
// Micro-dollars per million tokens. Longer contexts (over 200,000 tokens), batch and regional rates are not in it.

export const priceTable = {
  /** Day on which the prices were last compared with the source. */
  date: "2026-11-30",
  source:
    "Anthropic, Pricing page of the API documentation: model pricing and prompt caching (from memory of it, to be compared)",
  models: {
    "claude-opus-4-6": { input: 5_000_000, output: 25_000_000, cacheWrite: 6_250_000, cacheRead: 500_000 },
    "claude-opus-4-5": { input: 5_000_000, output: 25_000_000, cacheWrite: 6_250_000, cacheRead: 500_000 },
    "claude-opus-4-1": { input: 15_000_000, output: 75_000_000, cacheWrite: 18_750_000, cacheRead: 1_500_000 },
    "claude-opus-4": { input: 15_000_000, output: 75_000_000, cacheWrite: 18_750_000, cacheRead: 1_500_000 },
    "claude-opus-4-0": { input: 15_000_000, output: 75_000_000, cacheWrite: 18_750_000, cacheRead: 1_500_000 },
    "claude-sonnet-4-6": { input: 3_000_000, output: 15_000_000, cacheWrite: 3_750_000, cacheRead: 300_000 },
    "claude-sonnet-4-5": { input: 3_000_000, output: 15_000_000, cacheWrite: 3_750_000, cacheRead: 300_000 },
    "claude-sonnet-4": { input: 3_000_000, output: 15_000_000, cacheWrite: 3_750_000, cacheRead: 300_000 },
    "claude-sonnet-4-0": { input: 3_000_000, output: 15_000_000, cacheWrite: 3_750_000, cacheRead: 300_000 },
    "claude-3-7-sonnet": { input: 3_000_000, output: 15_000_000, cacheWrite: 3_750_000, cacheRead: 300_000 },
    "claude-haiku-4-5": { input: 1_000_000, output: 5_000_000, cacheWrite: 1_250_000, cacheRead: 100_000 },
    "claude-3-5-haiku": { input: 800_000, output: 4_000_000, cacheWrite: 1_000_000, cacheRead: 80_000 },
    "claude-3-haiku": { input: 250_000, output: 1_250_000, cacheWrite: 300_000, cacheRead: 30_000 },
  },
} as const;
