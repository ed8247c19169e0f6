import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addsNothing } from "../../../lib/core/memory/adds-nothing.ts";

describe("addsNothing", () => {
  it.each([
    ["I live in Berlin.", "I live in Berlin"],
    ["Please remember that I live in Berlin!", "I live in Berlin."],
    ["I live in Berlin.", "I live in Berlin with my wife."],
    ["I like cats.", "I like cat"],
    ["I don’t eat fish.", "I do not eat fish."],
    ["我住在柏林。", "我住在柏林"],
    ["My limit is 1,000.", "My limit is 1,000"],
  ])("refuses %j where %j is known", (sentence, known) => {
    expect(addsNothing(sentence, known)).toBe(true);
  });

  it.each([
    ["I live in Munich.", "I live in Berlin."],
    ["I live in Berlin with my wife.", "I live in Berlin."],
    ["I eat fish.", "I do not eat fish."],
    ["I do not eat fish.", "I eat fish."],
    ["I no longer live in Berlin.", "I live in Berlin."],
    [
      "My budget for the move of the office this year is 6000 euros.",
      "My budget for the move of the office this year is 5000 euros.",
    ],
    ["My limit is 1.5.", "My limit is 15."],
    ["Ann reports to Bob.", "Bob reports to Ann."],
    ["Ich esse keinen Fisch.", "Ich esse Fisch."],
    ["我不吃鱼。", "我吃鱼。"],
    ["It is.", "I am."],
  ])("takes %j for news where %j is known", (sentence, known) => {
    expect(addsNothing(sentence, known)).toBe(false);
  });

  it("finds nothing new in the same sentence, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(addsNothing(text, text)).toBe(true);
      }),
    );
  });
});
