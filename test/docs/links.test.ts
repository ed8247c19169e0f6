import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { pages } from "./snippets.ts";
import { root } from "./test-titles.ts";

const texts = pages().map((page) => ({ page, text: readFileSync(join(root, page), "utf8") }));

/** As GitHub makes the anchor of a heading. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

describe("the pages", () => {
  it("link to pages and headings that are there", () => {
    const broken = texts.flatMap(({ page, text }) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
        if (/^https?:/.test(target)) return [];
        const [path = "", heading] = target.split("#");
        const file = path === "" ? page : normalize(join(dirname(page), path));
        if (!existsSync(join(root, file))) return [`${page}: ${target}`];
        if (heading === undefined) return [];
        const headings = [...readFileSync(join(root, file), "utf8").matchAll(/^#+ (.+)$/gm)];
        return headings.some(([, words = ""]) => anchor(words) === heading) ? [] : [`${page}: ${target}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it("name files and folders of the repository that are there", () => {
    const named = /`((?:lib|lambdas|bin|test|docs|examples|bench)\/[\w./-]*\w)`/g;
    const missing = texts.flatMap(({ page, text }) =>
      [...text.matchAll(named)].flatMap(([, file = ""]) =>
        existsSync(join(root, file)) || file.includes("my-agent") || file === "examples/project-builder"
          ? []
          : [`${page}: ${file}`],
      ),
    );
    expect(missing).toEqual([]);
  });
});

describe("docs/decisions", () => {
  it("lists each page in its README, numbered without gap", () => {
    const folder = join(root, "docs/decisions");
    const files = readdirSync(folder).filter((file) => file !== "README.md");
    const numbers = files.map((file) => Number(file.slice(0, 4))).sort((a, b) => a - b);
    expect(numbers).toEqual(numbers.map((_, i) => i + 1));
    const text = readFileSync(join(folder, "README.md"), "utf8");
    expect(files.filter((file) => !text.includes(`](${file})`))).toEqual([]);
  });
});
