// The titles of all tests as they stand in the sources, and the numbers of promises (G) and hazards (H) that they carry.
// Read, not run: a number counts only where a title is written out.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** Files (relative to the root) that have a title with a number, by number: `G4`, `H12`. */
export function filesByNumber(): Map<string, string[]> {
  const found = new Map<string, Set<string>>();
  for (const file of testSources()) {
    for (const title of titlesIn(readFileSync(join(root, file), "utf8"))) {
      for (const number of numbersIn(title)) found.set(number, (found.get(number) ?? new Set()).add(file));
    }
  }
  return new Map([...found].map(([number, files]) => [number, [...files].sort()]));
}

/** Sources of tests: contract suites are no `.test.ts` themselves. */
function testSources(): string[] {
  return ["test", "examples"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.startsWith("docs/") && !file.startsWith("support/"))
      .filter((file) => folder === "test" || file.endsWith(".test.ts"))
      .map((file) => `${folder}/${file}`),
  );
}

/** Literal titles of describe, it and test, also behind `.each(…)` and the like. */
export function titlesIn(source: string): string[] {
  const titles: string[] = [];
  for (const call of source.matchAll(/\b(?:describe|it|test)((?:\.\w+)*)\(/g)) {
    const open = call.index + call[0].length;
    const curried = /\.(?:each|for|skipIf|runIf)$/.test(call[1] ?? "");
    const start = curried ? source.indexOf("(", closing(source, open)) + 1 : open;
    const title = /^\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/s.exec(source.slice(start, start + 1000))?.[2];
    if (title !== undefined) titles.push(title);
  }
  return titles;
}

/** Position after the parenthesis that closes the one before `from`. Strings are skipped. */
function closing(source: string, from: number): number {
  const token = /(["'`])(?:\\.|(?!\1)[^\\])*\1|[()]/gs;
  token.lastIndex = from;
  for (let depth = 1; depth > 0; ) {
    const found = token.exec(source)?.[0];
    if (found === undefined) return source.length;
    if (found === "(") depth++;
    if (found === ")") depth--;
  }
  return token.lastIndex;
}

/** `G1–G5` stands for five numbers. */
export function numbersIn(text: string): string[] {
  return [...text.matchAll(/\b([GH])(\d{1,2})(?:[–-]\1?(\d{1,2}))?\b/g)].flatMap(([, kind = "", first = "", last]) => {
    const from = Number(first);
    const to = Number(last ?? first);
    const width = kind === "H" ? 2 : 1;
    return Array.from({ length: to - from + 1 }, (_, i) => `${kind}${String(from + i).padStart(width, "0")}`);
  });
}
