import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareText } from "../../lib/ports/table-semantics.ts";

describe("compareText", () => {
  it("orders any two texts as their UTF-8 bytes", () => {
    const tricky = fc.string({
      unit: fc.constantFrom("a", "é", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10FFFF}"),
      maxLength: 4,
    });
    const text = fc.oneof(tricky, fc.string({ unit: "binary", maxLength: 6 }));
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
      { numRuns: 2000 },
    );
  });
});
