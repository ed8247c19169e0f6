import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { notYet } from "./not-yet.ts";
import { filesByNumber, numbersIn, root, titlesIn } from "./test-titles.ts";

const titles = filesByNumber();
const text = readFileSync(join(root, "docs/guarantees.md"), "utf8");
/** Each section with the files that it names as tests. */
const promises = text
  .split(/^## (?=G)/m)
  .slice(1)
  .map((section) => {
    const [tests = ""] = section.match(/^\*\*Tests\.\*\*.*$/m) ?? [];
    return {
      number: /^G\d+/.exec(section)?.[0] ?? "",
      files: [...tests.matchAll(/`([^`]+)`/g)].map(([, file]) => file),
    };
  });

describe("docs/guarantees.md", () => {
  it("numbers the promises from G1 on without gap", () => {
    expect(promises.length).toBeGreaterThanOrEqual(20);
    expect(promises.map(({ number }) => number)).toEqual(promises.map((_, i) => `G${i + 1}`));
  });

  it("has a test for each promise, but for those that support.md calls open", () => {
    const open = promises.map(({ number }) => number).filter((number) => !titles.has(number));
    expect(open).toEqual(notYet().filter((number) => number.startsWith("G")));
  });

  it("names files that carry the number", () => {
    const wrong = promises.flatMap(({ number, files }) =>
      files.filter((file) => !titles.get(number)?.includes(file ?? "")).map((file) => `${number}: ${file}`),
    );
    expect(wrong).toEqual([]);
    expect(promises.filter(({ number, files }) => titles.has(number) && files.length === 0)).toEqual([]);
  });

  it("knows every number that a title carries", () => {
    const known = new Set(promises.map(({ number }) => number));
    const strangers = [...titles].filter(([number]) => number.startsWith("G") && !known.has(number));
    expect(strangers).toEqual([]);
  });
});

describe("the reader of titles", () => {
  it("reads what describe, it and test are given, curried ones too, and nothing else", () => {
    const source = [
      'describe("a (G1)", () => {',
      "  it(`b (H02)`, { timeout: 1 }, async () => {});",
      '  it.each([["G9)", 1]])("c %s (G3)", () => {});',
      '  it.skipIf(off)("d", () => expect("G7").toBe("(G8)"));',
      "  it(name, () => {});",
      '  await submit("G6");',
      '  it("says \\"e\\" (G4)", () => {});',
    ].join("\n");
    expect(titlesIn(source)).toEqual(["a (G1)", "b (H02)", "c %s (G3)", "d", 'says \\"e\\" (G4)']);
  });

  it("reads ranges as each of their numbers", () => {
    expect(numbersIn("x (G1–G3, H09-H11, H2)")).toEqual(["G1", "G2", "G3", "H09", "H10", "H11", "H02"]);
  });
});
