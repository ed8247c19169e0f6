import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeInput, visible, visibleJson, visibleLine } from "../../lib/core/approval/describe.ts";
import type { Json } from "../../lib/core/json.ts";

describe("describeInput", () => {
  it("lists every value with its path, and amounts beside cents", () => {
    const input: Json = {
      caseId: "A-1",
      amountCents: 1_234_567,
      refundCents: -5,
      parties: [
        { name: "王小明", flags: [] },
        { name: "", meta: {} },
      ],
      urgent: true,
      note: null,
    };
    expect(describeInput(input)).toEqual([
      { label: "caseId", text: "A-1" },
      { label: "amountCents", text: "1234567 (= 12,345.67)" },
      { label: "refundCents", text: "-5 (= -0.05)" },
      { label: "parties[0].name", text: "王小明" },
      { label: "parties[0].flags", text: "(empty list)" },
      { label: "parties[1].name", text: "(empty)" },
      { label: "parties[1].meta", text: "(nothing)" },
      { label: "urgent", text: "true" },
      { label: "note", text: "null" },
    ]);
  });
});

describe("visible", () => {
  it("shows what hides or reorders text", () => {
    expect(visible("pay\u202E100\u202C\u200B to\u0000 \u{E0041}")).toBe(
      "pay[U+202E]100[U+202C][U+200B] to[U+0000] [U+E0041]",
    );
  });

  it("leaves real scripts alone", () => {
    const text = "שלום עולם\nمرحبا می‌خواهم\nGrüße 王小明 👩‍👩‍👧 \u200Fא\tb";
    expect(visible(text)).toBe(text);
  });
});

describe("visibleLine", () => {
  it("is one line of bounded length that never splits a character", () => {
    expect(visibleLine(" a\r\nBcc: b\u2028c ")).toBe("a Bcc: b[U+2028]c");
    expect(visibleLine("😀".repeat(5), 3)).toBe("😀😀…");
  });
});

describe("visibleJson", () => {
  it("parses back to the same value and hides nothing", () => {
    const hostile = fc.string({ unit: fc.constantFrom("\u202E", "\u200B", "\u{E0041}", "a", '"', "\\", "\n", "ש") });
    const json = fc.jsonValue().map((value) => value as Json);
    fc.assert(
      fc.property(fc.oneof(json, hostile, fc.dictionary(hostile, hostile)), (value: Json) => {
        expect(JSON.parse(visibleJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(visible(visibleJson(value))).toBe(visibleJson(value));
      }),
    );
  });
});
