// Code blocks of the README and the pages under docs, with the file name that a ts block may give in its first line.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./test-titles.ts";

export type Snippet = {
  page: string;
  /** Of its first line of code. */
  line: number;
  language: string;
  code: string;
  /** From the comment before it: `<!-- test: run -->`. */
  test: string | undefined;
};

export function pages(): string[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" });
  const examples = readdirSync(join(root, "examples"))
    .map((name) => `examples/${name}/README.md`)
    .filter((file) => existsSync(join(root, file)));
  return [
    "README.md",
    ...docs.filter((file) => file.endsWith(".md")).map((file) => `docs/${file}`),
    ...examples,
  ].sort();
}

export function snippetsOf(page: string): Snippet[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/(?:^<!-- test: ([^>]+) -->\n)?^```(\w+)[^\n]*\n([\s\S]*?)^```$/gm)].map((found) => ({
    page,
    line: text.slice(0, found.index).split("\n").length + (found[1] === undefined ? 1 : 2),
    language: found[2] ?? "",
    code: found[3] ?? "",
    test: found[1]?.trim(),
  }));
}
