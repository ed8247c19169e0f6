import { describe, expect, it } from "vitest";
import { type CompactionQuestion, shouldCompact } from "../../../lib/core/compaction/should-compact.ts";

describe("shouldCompact", () => {
  const question: CompactionQuestion = {
    state: { turn: null, marks: { inboxSeq: 0 } },
    now: 1000,
    contextTokens: 80_000,
    budgetTokens: 100_000,
    fixedTokens: 5000,
    newTokens: 70_000,
  };
  const requested = (calls: object[] = []) => ({
    turn: { calls } as never,
    marks: { inboxSeq: 0, compactRequested: 7 },
  });
  const table: [string, Partial<CompactionQuestion>, object][] = [
    ["at the threshold", {}, { compact: true, cause: "threshold" }],
    ["below it", { contextTokens: 74_999 }, { compact: false, why: "small" }],
    ["when it does not fit", { contextTokens: 120_000, newTokens: 1 }, { compact: true, cause: "overflow" }],
    ["when the window left something out", { contextTokens: 10, overflow: true }, { compact: true, cause: "overflow" }],
    [
      "on request, however small",
      { contextTokens: 10, newTokens: 5, state: requested() },
      { compact: true, cause: "requested" },
    ],
    ["after a resume from half", { contextTokens: 50_000, first: "resumed" }, { compact: true, cause: "resumed" }],
    [
      "after a change of model, but small",
      { contextTokens: 49_999, first: "model_changed" },
      { compact: false, why: "small" },
    ],
    [
      "never with an open call",
      { contextTokens: 120_000, state: requested([{ status: "started" }]) },
      { compact: false, why: "call_open" },
    ],
    ["not again without new tokens (H49)", { newTokens: 9999 }, { compact: false, why: "nothing_new" }],
    [
      "not on request either when nothing is new",
      { newTokens: 0, state: requested() },
      { compact: false, why: "nothing_new" },
    ],
    [
      "not while it backs off (H50)",
      { state: { turn: null, marks: { inboxSeq: 0, compactNotBefore: 1001 } } },
      { compact: false, why: "back_off" },
    ],
    [
      "not when the prompt alone is over the threshold (H49)",
      { fixedTokens: 75_000 },
      { compact: false, why: "fixed_too_large" },
    ],
  ];
  it.each(table)("decides %s", (_, change, wanted) => {
    expect(shouldCompact({ ...question, ...change })).toEqual(wanted);
  });
});
