import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { notYet } from "./not-yet.ts";
import { filesByNumber, root } from "./test-titles.ts";

const titles = filesByNumber();
const rows = readFileSync(join(root, "docs/hazards.md"), "utf8")
  .split("\n")
  .filter((line) => /^\| H\d\d \|/.test(line))
  .map((line) => {
    const [, number = "", scenario = "", behaviour = "", tests = ""] = line.split("|").map((cell) => cell.trim());
    return { number, scenario, behaviour, files: [...tests.matchAll(/`([^`]+)`/g)].map(([, file]) => file ?? "") };
  });

describe("docs/hazards.md", () => {
  it("has each number once, in order, with a scenario and what is right", () => {
    const numbers = rows.map(({ number }) => number);
    expect(numbers.length).toBeGreaterThan(50);
    expect(numbers).toEqual([...new Set(numbers)].sort());
    expect(rows.filter(({ scenario, behaviour }) => !scenario || !behaviour)).toEqual([]);
  });

  it("has a test for each hazard, but for those that support.md calls open", () => {
    const open = rows.map(({ number }) => number).filter((number) => !titles.has(number));
    expect(open).toEqual(notYet().filter((number) => number.startsWith("H")));
  });

  it("names files that carry the number", () => {
    const wrong = rows.flatMap(({ number, files }) =>
      files.filter((file) => !titles.get(number)?.includes(file)).map((file) => `${number}: ${file}`),
    );
    expect(wrong).toEqual([]);
    expect(rows.filter(({ number, files }) => titles.has(number) && files.length === 0)).toEqual([]);
  });

  it("knows every number that a title carries", () => {
    const known = new Set(rows.map(({ number }) => number));
    expect([...titles].filter(([number]) => number.startsWith("H") && !known.has(number))).toEqual([]);
  });
});
