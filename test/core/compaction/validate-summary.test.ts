import { describe, expect, it } from "vitest";
import { type Cut, chooseCut } from "../../../lib/core/compaction/choose-cut.ts";
import { readSummary } from "../../../lib/core/compaction/summary-record.ts";
import {
  latestUserMessage,
  type SummaryContext,
  validateSummary,
} from "../../../lib/core/compaction/validate-summary.ts";
import type { LoggedEvent } from "../../../lib/core/context/logged-event.ts";
import * as h from "../context/histories.ts";

const options = { keepTokens: 300, stubTokens: 200, summaryTokens: 50 };

function cutOf(events: LoggedEvent[], change: Partial<typeof options> = {}): Cut {
  const cut = chooseCut(events, { ...options, ...change });
  if (cut.kind === "none") throw new Error(`no cut: ${cut.why}`);
  return cut;
}

describe("validateSummary", () => {
  const events = h.log(
    h.created(),
    h.user(1, `please ${"word ".repeat(400)}`),
    h.reply(1, { text: "the last answer", calls: ["a"] }),
    h.finished(1, 0, "a"),
    h.reply(2, { text: "that is the end of it" }),
    h.ended(1),
  );
  const cut = cutOf(events, { keepTokens: 0 });
  const carried = { constraints: ["never mail"], decisions: [], sideEffects: [], resources: [] };
  const context: SummaryContext = { cut, carried, constraints: ["never mail"], latestUser: latestUserMessage(cut) };
  const reply = (text: string, stop = "end_turn" as const) => ({ content: [{ type: "text" as const, text }], stop });
  const bigger: SummaryContext = { ...context, cut: { ...cut, replacedTokens: 100_000 } };
  const good = "Goal: x\nState: y";

  const refusals: [string, ReturnType<typeof validateSummary>, string][] = [
    ["an empty reply", validateSummary({ content: [], stop: "end_turn" }, bigger), "blank"],
    ["spaces", validateSummary(reply(" \n\u00a0"), bigger), "blank"],
    ["dashes", validateSummary(reply("---"), bigger), "blank"],
    [
      "thinking only",
      validateSummary(
        { content: [{ type: "thinking", issuer: "m", thinking: good, signature: "s" }], stop: "end_turn" },
        bigger,
      ),
      "blank",
    ],
    ["a cut reply", validateSummary({ ...reply(good), stop: "max_tokens" }, bigger), "stop_reason"],
    ["a refusal", validateSummary({ ...reply(good), stop: "refusal" }, bigger), "stop_reason"],
    ["an unknown stop reason", validateSummary({ ...reply(good), stop: "other" }, bigger), "stop_reason"],
    ["a copy of an answer", validateSummary(reply(" that is\nthe end of it "), bigger), "copy"],
    ["one as long as what it replaces", validateSummary(reply("word ".repeat(900)), context), "not_smaller"],
    ["a lost user message", validateSummary(reply(good), { ...bigger, latestUser: "please" }), "instruction_missing"],
    [
      "a lost constraint",
      validateSummary(reply(good), { ...bigger, carried: { ...carried, constraints: ["never"] } }),
      "constraint_missing",
    ],
    [
      "a result without its call",
      validateSummary(reply(good), { ...bigger, cut: { ...cut, kept: events.slice(3) }, latestUser: "" }),
      "pairs_split",
    ],
  ];
  it.each(refusals)("refuses %s (H50)", (_, verdict, reason) => {
    expect(verdict).toMatchObject({ ok: false, reason });
  });

  it("answers the record with all that was carried over, word for word (G13)", () => {
    const verdict = validateSummary(reply(good), bigger);
    expect(verdict).toEqual({
      ok: true,
      tokens: expect.any(Number),
      record: {
        format: 1,
        narrative: good,
        carried,
        latestUser: `please ${"word ".repeat(400)}`.trim(),
        turns: { from: 1, to: 1 },
      },
    });
  });

  it("needs no copy of a message that is kept or opens the turn", () => {
    expect(latestUserMessage({ ...cut, kept: h.log(h.user(2, "next")) })).toBe("");
    expect(latestUserMessage(cut, 2)).toBe("");
    expect(
      latestUserMessage({ ...cut, replaced: [...cut.replaced, { version: 9, event: h.steered("and this") }] }, 2),
    ).toBe("and this");
  });
});

describe("readSummary", () => {
  it("refuses a damaged record with its place (H05)", () => {
    expect(() => readSummary({ format: 1, narrative: 3 })).toThrow(/^summary: narrative: /);
  });
});
