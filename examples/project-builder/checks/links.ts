// Whoever is on one page finds every other, and no link leads nowhere.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, links, pages, read } from "./site.ts";

const folder = process.argv[2] ?? "";
const rules: Record<string, boolean> = { "there are at least two pages": pages().length >= 2 };
for (const page of pages()) {
  const targets = links(read(page));
  for (const other of pages()) {
    if (other !== page) rules[`${page} links to ${other}`] = targets.includes(other);
  }
  for (const target of targets) {
    const isOwn = !/^[a-z]+:|^\/|\.\./i.test(target) && existsSync(join(folder, target.replace(/[?#].*$/, "")));
    rules[`${page}: ${target} is a file of the project`] = isOwn;
  }
}
expect(rules);
