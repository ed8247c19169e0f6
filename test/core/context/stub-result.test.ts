import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ResultBlock } from "../../../lib/core/content.ts";
import { stubResult, stubText } from "../../../lib/core/context/stub-result.ts";
import { estimateTokens } from "../../../lib/core/estimate.ts";

const result = (text: string): ResultBlock => ({
  type: "result",
  callId: "c",
  content: [{ type: "text", text }],
  isError: false,
});

describe("stubText", () => {
  it("leaves a short text as it is and cuts a long one to head, reference and tail within the limit", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 3000 }),
      fc.string({ unit: "binary", maxLength: 3000 }),
    );
    fc.assert(
      fc.property(text, fc.integer({ min: 100, max: 800 }), (long, maxTokens) => {
        fc.pre(long.isWellFormed());
        const stub = stubText(long, { maxTokens, version: 7 });
        if (estimateTokens(long) <= maxTokens) expect(stub).toBe(long);
        else {
          expect(stub).toContain(
            `of ${long.length} characters left out; the whole text is kept at version 7 of the log`,
          );
          expect(stub.isWellFormed()).toBe(true);
          expect(stub.length).toBeLessThan(long.length + 120);
        }
      }),
    );
  });

  it("comes to about the limit, also when one part of the text is denser than the other", () => {
    for (const text of ["word ".repeat(5000), "客户".repeat(5000), `${"word ".repeat(5000)}${"客户".repeat(5000)}`]) {
      expect(estimateTokens(stubText(text, { maxTokens: 500 }))).toBeLessThanOrEqual(800);
    }
  });
});

describe("stubResult", () => {
  it("keeps the call id and whether it is an error, and says what became of pictures", () => {
    const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const;
    const long: ResultBlock = { ...result("word ".repeat(5000)), isError: true };
    const stub = stubResult({ ...long, content: [image, ...long.content] }, { maxTokens: 300, version: 3 });
    expect(stub).toMatchObject({ type: "result", callId: "c", isError: true });
    expect(stub.content.map((block) => block.type)).toEqual(["text", "text"]);
    expect(stub.content[1]).toEqual({ type: "text", text: "[1 image(s) left out]" });
    expect(stubResult(result("short"), { maxTokens: 300, version: 3 })).toEqual(result("short"));
  });
});
