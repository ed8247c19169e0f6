import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ErrorKind, errorTable } from "../../lib/core/errors.ts";
import { root } from "./test-titles.ts";

const folder = join(root, "docs/errors");
const unexpected: ErrorKind = { name: "Unexpected", disposition: "Terminal", code: "unexpected", status: 500 };
const kinds = [...errorTable.values(), unexpected];
const page = (code: string) => readFileSync(join(folder, `${code}.md`), "utf8");

describe("docs/errors", () => {
  it("has a page for each error, named after its code, and no other", () => {
    const pages = readdirSync(folder).filter((file) => file !== "README.md");
    expect(pages.sort()).toEqual(kinds.map(({ code }) => `${code}.md`).sort());
  });

  it.each(kinds.map((kind) => [kind.code, kind] as const))(
    "%s: name, code, status and kind are those of the table",
    (code, kind) => {
      const [title, , , , row = ""] = page(code).split("\n");
      const [, shown, status, words = ""] = row.split("|").map((cell) => cell.trim());
      expect({ title, shown, status, disposition: words.split(":")[0] }).toEqual({
        title: `# ${kind.name}`,
        shown: `\`${kind.code}\``,
        status: String(kind.status),
        disposition: kind.disposition,
      });
    },
  );

  it("says on each page what happens next, why, and how to mend it", () => {
    for (const { code } of kinds) {
      const sections = page(code)
        .split(/^## /m)
        .slice(1)
        .map((section) => section.split("\n"));
      expect({ code, titles: sections.map(([title]) => title) }).toEqual({
        code,
        titles: ["What happens next", "Why", "Mend"],
      });
      for (const [, ...lines] of sections)
        expect({ code, words: lines.join(" ").trim().length > 10 }).toEqual({ code, words: true });
    }
  });

  it("lists each page in its README, with the same status", () => {
    const rows = readFileSync(join(folder, "README.md"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("| ["))
      .map((line) =>
        line
          .split("|")
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    expect(rows).toEqual(
      kinds.map(({ name, code, status, disposition }) => [
        `[\`${code}\`](${code}.md)`,
        name,
        String(status),
        disposition,
      ]),
    );
  });
});
