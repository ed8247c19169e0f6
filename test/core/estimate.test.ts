import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contextBudget, contextTokens, estimateEvent, estimateTokens } from "../../lib/core/estimate.ts";
import { finished, log, reply, user } from "./context/histories.ts";

/**
 * Script classes with the tokens per UTF-16 unit that byte-pair tokenizers of this generation need on running
 * text: [text, least, most]. Literature values: no tokenizer of the provider is public.
 */
const english =
  "The customer opened the account in March and has since received fourteen transfers from the same sender. " +
  "None of them exceeds the reporting threshold, but together they do. Please check whether the sender is on a list. ";
const code =
  "const total = rows.filter((row) => row.amountCents > 0).reduce((sum, row) => sum + row.amountCents, 0);\n";
const json = '{"id":"tx_10293","amountCents":129900,"currency":"EUR","sender":{"name":"Acme Ltd","country":"DE"}},';
const german = "Die Überweisungen übersteigen zusammengenommen den Schwellenwert für meldepflichtige Vorgänge. ";
const han = "客户在三月份开立了账户，此后收到了来自同一付款人的十四笔转账。";
const base64 = Array.from({ length: 60_000 }, (_, i) => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return alphabet[(i * 7919 + ((i * i) % 1013) * 31 + (i >> 3)) % 64];
}).join("");

const corpus: Record<string, [text: string, least: number, most: number]> = {
  "English prose": [english.repeat(50), 0.19, 0.235],
  code: [code.repeat(50), 0.24, 0.3],
  JSON: [json.repeat(50), 0.29, 0.42],
  "German prose": [german.repeat(50), 0.23, 0.3],
  "20,000 Han characters": [han.repeat(700).slice(0, 20_000), 0.95, 1.15],
  "20,000 Hangul": ["고객은삼월에계좌를개설했다".repeat(2000).slice(0, 20_000), 1.1, 1.3],
  "5,000 emoji": ["😀🚀🎉🐙".repeat(1250), 1, 1.25],
  "60 KB of base64": [base64, 0.65, 0.76],
  numbers: ["4711 0815 12345678 99 ".repeat(500), 0.27, 0.45],
};

describe("estimateTokens", () => {
  it.each(Object.keys(corpus))(
    "counts %s on the upper side of what tokenizers need, within 25 percent (H53)",
    (name) => {
      const [text, least, most] = corpus[name] ?? ["", 0, 0];
      const perUnit = estimateTokens(text) / text.length;
      expect(perUnit).toBeGreaterThanOrEqual((least + most) / 2);
      expect(perUnit).toBeLessThanOrEqual(most * 1.25);
    },
  );

  it("is 0 for nothing, more for more, and the parts are never much less than the whole", () => {
    expect(estimateTokens("")).toBe(0);
    const text = fc.string({ unit: "grapheme", maxLength: 300 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [one, other, both] = [estimateTokens(a), estimateTokens(b), estimateTokens(`${a}\n${b}`)];
        expect(both).toBeGreaterThanOrEqual(Math.max(one, other));
        expect(both).toBeLessThanOrEqual(one + other + 1);
      }),
    );
  });

  it("adds system, tools and messages of a request, and what stands around them", () => {
    const message = { role: "user" as const, content: [{ type: "text" as const, text: english }] };
    const tool = { name: "look", description: english, inputSchema: { type: "object" } };
    const of = (system: number, tools: number, messages: number) =>
      estimateTokens({
        system: Array.from({ length: system }, () => ({ text: english })),
        tools: Array.from({ length: tools }, () => tool),
        messages: Array.from({ length: messages }, () => message),
      });
    const text = estimateTokens(english);
    expect(of(0, 0, 0)).toBe(0);
    expect(Math.min(of(1, 0, 0), of(0, 1, 0), of(0, 0, 1))).toBeGreaterThan(text);
    expect(of(2, 3, 4)).toBe(2 * of(1, 0, 0) + 3 * of(0, 1, 0) + 4 * of(0, 0, 1));
  });

  it("counts a picture by what it costs at most, not by its bytes", () => {
    const image = { type: "image" as const, mediaType: "image/png" as const, data: base64 };
    expect(estimateTokens({ role: "user", content: [image] })).toBeLessThan(2000);
  });
});

describe("contextBudget", () => {
  it("is the window less output limit and margin, never negative", () => {
    expect(contextBudget({ windowTokens: 200_000, maxTokens: 4096 })).toBe(200_000 - 4096 - 6000);
    expect(contextBudget({ windowTokens: 10_000, maxTokens: 1000, marginTokens: 500 })).toBe(8500);
    expect(contextBudget({ windowTokens: 1000, maxTokens: 999 })).toBe(0);
  });
});

describe("contextTokens", () => {
  const events = log(user(1, english), reply(1, { text: english, calls: ["a"] }), finished(1, 0, "a", english));
  const sizes = events.map((logged) => estimateEvent(logged.event));

  it("is the last real usage plus an estimate of what came since", () => {
    expect(contextTokens({ context: { tokens: 5000, version: 2 } }, events)).toBe(5000 + (sizes[2] ?? 0));
    expect(contextTokens({ context: { tokens: 5000, version: 3 } }, events)).toBe(5000);
  });

  it("falls back to the estimate of all, never to 0, when no usage is known", () => {
    const all = sizes.reduce((a, b) => a + b, 0);
    expect(contextTokens({ context: { tokens: 0, version: 0 } }, events, 100)).toBe(100 + all);
  });
});
