// The numbers that docs/support.md calls open: one list for people and tests. It shrinks as things land.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { numbersIn, root } from "./test-titles.ts";

/** From the line "Without a test yet: H08, …" of docs/support.md, in order; empty when it says "none". */
export function notYet(): string[] {
  const line = /^Without a test yet: (.+)$/m.exec(readFileSync(join(root, "docs/support.md"), "utf8"))?.[1];
  if (line === undefined) throw new Error('docs/support.md has no line "Without a test yet: …"');
  return numbersIn(line);
}
