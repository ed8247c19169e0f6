// The small pure parts under budgets and usage: days, money, back-off, prices given by a file.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addSpent, addToDay, type DayUsage, spentOf } from "../../lib/core/day-usage.ts";
import { InvalidDefinition } from "../../lib/core/errors.ts";
import { retryDelayMs } from "../../lib/core/model-retry.ts";
import { dollars, microsOf } from "../../lib/core/money.ts";
import { defaultPrices, parsePrices, priceOf } from "../../lib/core/prices.ts";
import { dayMs, parseUtcDay, utcDay, utcDayNumber } from "../../lib/core/utc-day.ts";

describe("utcDay", () => {
  it("is the calendar's, from year 0 to 9999", () => {
    const [first, last] = [Date.parse("0000-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59.999Z")];
    fc.assert(
      fc.property(fc.integer({ min: first, max: last }), (at) => {
        expect(utcDay(utcDayNumber(at))).toBe(new Date(at).toISOString().slice(0, 10));
      }),
      { numRuns: 2000 },
    );
  });

  it("changes at midnight UTC, to the millisecond", () => {
    const midnight = Date.UTC(2028, 1, 29);
    expect([midnight - 1, midnight].map((at) => utcDay(utcDayNumber(at)))).toEqual(["2028-02-28", "2028-02-29"]);
  });

  it("reads days that exist, and no others", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60_000 }), (day) => {
        expect(parseUtcDay(utcDay(day))).toBe(utcDay(day));
      }),
    );
    const bad = ["2026-02-29", "2100-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-4-1", "today", ""];
    expect(bad.map(parseUtcDay)).toEqual(bad.map(() => null));
    expect(parseUtcDay("2000-02-29")).toBe("2000-02-29");
  });
});

describe("addToDay", () => {
  const call = (at: number, model = "m", n = 1) => ({
    at,
    model,
    usage: { inputTokens: n, outputTokens: 2 * n, cacheReadTokens: 3 * n, cacheWriteTokens: 4 * n },
    usdMicros: 5 * n,
  });

  it("adds by day and model", () => {
    let days: DayUsage[] = [];
    for (const given of [call(0, "a"), call(1, "b"), call(2, "a", 10), call(dayMs, "a")]) days = addToDay(days, given);
    expect(days).toEqual([
      { day: 0, models: { a: [11, 22, 33, 44, 55], b: [1, 2, 3, 4, 5] } },
      { day: 1, models: { a: [1, 2, 3, 4, 5] } },
    ]);
  });

  it("stays small and loses nothing, however many days and models", () => {
    const calls = fc.array(
      fc.record({ day: fc.integer({ min: 0, max: 40 }), model: fc.integer({ min: 0, max: 30 }), n: fc.nat(1000) }),
      { maxLength: 120 },
    );
    fc.assert(
      fc.property(calls, (given) => {
        let days: DayUsage[] = [];
        for (const { day, model, n } of given) days = addToDay(days, call(day * dayMs, `model-${model}`, n));
        const tuples = days.flatMap(({ models }) => Object.values(models));
        const total = tuples.map(spentOf).reduce(addSpent, spentOf([0, 0, 0, 0, 0]));
        const n = given.reduce((sum, each) => sum + each.n, 0);
        expect(total).toEqual(spentOf([n, 2 * n, 3 * n, 4 * n, 5 * n]));
        expect(days.length).toBeLessThanOrEqual(8);
        expect(days.map(({ day }) => day)).toEqual(days.map(({ day }) => day).toSorted((a, b) => a - b));
        expect(Math.max(0, ...days.slice(1).map(({ models }) => Object.keys(models).length))).toBeLessThanOrEqual(13);
      }),
    );
  });
});

describe("retryDelayMs", () => {
  const delay = (attempt: number, retryAfterMs?: number) => retryDelayMs({ attempt, retryAfterMs });

  it("waits as long as the server says, at least the own back-off, at most a day (H44)", () => {
    expect(
      [1000, 16_000, 13_262_000, 0, -5000, Number.NaN, Number.POSITIVE_INFINITY].map((ms) => delay(1, ms)),
    ).toEqual([1000, 16_000, 13_262_000, 1000, 1000, 1000, 1000]);
    expect([delay(5, 1000), delay(1, 9e15), delay(5)]).toEqual([16_000, 24 * 3_600_000, 16_000]);
  });

  it("backs off from one second to one minute", () => {
    expect([0, 1, 2, 3, 6, 7, 50].map((attempt) => delay(attempt))).toEqual([
      1000, 1000, 2000, 4000, 32_000, 60_000, 60_000,
    ]);
  });
});

describe("money", () => {
  it("is written with the decimals that say something", () => {
    expect([0, 4_970_000, 5_000_000, 123, -1_500_000, 1_234_567, 100].map(dollars)).toEqual([
      "$0.00",
      "$4.97",
      "$5.00",
      "$0.000123",
      "-$1.50",
      "$1.234567",
      "$0.0001",
    ]);
  });

  it("is read from an author's decimals", () => {
    expect([0.1, 0.0000005, 100].map(microsOf)).toEqual([100_000, 1, 100_000_000]);
  });
});

describe("parsePrices", () => {
  const rates = { input: 1, output: 2, cacheWrite: 3, cacheRead: 0 };

  it("lays a file over the table", () => {
    const prices = parsePrices({ date: "2026-11-30", models: { llama: rates, "claude-haiku-4-5": rates } }, "f.json");
    expect([priceOf("llama", prices), priceOf("claude-haiku-4-5-20251001", prices)]).toEqual([rates, rates]);
    expect(priceOf("claude-opus-5", prices)).toEqual(defaultPrices["claude-opus-5"]);
  });

  it("refuses what does not fit, with its path", () => {
    const bad: [unknown, string][] = [
      [{}, "f.json.models"],
      [{ models: { llama: { ...rates, input: 0.5 } } }, "f.json.models.llama.input"],
      [{ models: { llama: { ...rates, output: -1 } } }, "f.json.models.llama.output"],
      [{ models: { llama: { input: 1 } } }, "f.json.models.llama.output"],
      [{ models: {}, modles: {} }, "modles"],
      ["text", "f.json"],
    ];
    for (const [value, path] of bad) {
      expect(() => parsePrices(value, "f.json")).toThrow(InvalidDefinition);
      expect(() => parsePrices(value, "f.json")).toThrow(path);
    }
  });
});
