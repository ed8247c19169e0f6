import { describe, expect, it } from "vitest";
import { style } from "../../lib/api/approval-page/style.ts";

/** Relative luminance and contrast as in WCAG 2.2. */
function luminance(hex = "#000000"): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one?: string, other?: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const schemes = [...style.matchAll(/:root \{(.*?)\}/gs)].map(([, body]) =>
  Object.fromEntries([...(body ?? "").matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, hex]) => [name, hex])),
);

describe("the approval page's colours", () => {
  it("come in a light and a dark scheme", () => {
    expect(schemes.map((scheme) => Object.keys(scheme).length)).toEqual([11, 11]);
  });

  for (const [index, scheme] of schemes.entries()) {
    it(`reach WCAG AA: ${index === 0 ? "light" : "dark"}`, () => {
      const text: [string, string][] = [
        ...["ground", "soft", "old", "new", "note"].map((ground): [string, string] => ["text", ground]),
        ["muted", "ground"],
        ["danger", "ground"],
        ["main-text", "main"],
      ];
      for (const [front, back] of text) {
        expect(contrast(scheme[front], scheme[back]), `${front} on ${back}`).toBeGreaterThanOrEqual(4.5);
      }
      // Borders of controls and the focus ring: 3 to 1.
      for (const edge of ["line", "main"]) {
        expect(contrast(scheme[edge], scheme.ground), edge).toBeGreaterThanOrEqual(3);
      }
    });
  }
});
