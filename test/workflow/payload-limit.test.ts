import { describe, expect, it } from "vitest";
import { maxPayloadBytes, smallPayload } from "../../lib/workflow/payload-limit.ts";

describe("smallPayload", () => {
  it("lets a turn with 900 open calls through (H74)", () => {
    const output = { next: "act", calls: Array.from({ length: 900 }, (_, index) => index) };
    expect(smallPayload("think", output)).toBe(output);
  });

  it("counts UTF-8 bytes, not characters (H73)", () => {
    const threeBytes = "会".repeat(Math.floor(maxPayloadBytes / 3));
    expect(threeBytes.length).toBeLessThan(maxPayloadBytes);
    expect(() => smallPayload("think", threeBytes)).toThrow(
      expect.objectContaining({ name: "ItemTooLarge", message: expect.stringContaining("think: 16385 bytes") }),
    );
  });
});
