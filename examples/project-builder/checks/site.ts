// What the checks share: reading the site and saying what is wrong with it. A check ends with code 1 and its faults on
// stderr, or with 0 and one line.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2] ?? "";

export function read(file: string): string {
  try {
    return readFileSync(join(folder, file), "utf8");
  } catch {
    return fail([`${file} is missing`]);
  }
}

export function pages(): string[] {
  return readdirSync(folder).filter((file) => file.endsWith(".html"));
}

export function entries(): { name: string; text: string }[] {
  let found: unknown;
  try {
    found = JSON.parse(read("data.json"));
  } catch {
    return fail(["data.json is no JSON"]);
  }
  const isEntry = (entry: unknown): entry is { name: string; text: string } =>
    typeof entry === "object" &&
    entry !== null &&
    ["name", "text"].every((key) => {
      const value = (entry as Record<string, unknown>)[key];
      return typeof value === "string" && value.trim() !== "";
    });
  if (!Array.isArray(found) || !found.every(isEntry)) return fail(["data.json is no list of {name, text}"]);
  return found;
}

/** Targets of href and src, in order. */
export function links(html: string): string[] {
  return [...html.matchAll(/\b(?:href|src)\s*=\s*"([^"]*)"/gi)].map((match) => match[1] ?? "");
}

export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Faults end the program. */
export function expect(rules: Record<string, boolean>): void {
  const faults = Object.entries(rules).flatMap(([what, holds]) => (holds ? [] : [what]));
  if (faults.length > 0) fail(faults);
  console.log(`${Object.keys(rules).length} rules hold`);
}

function fail(faults: string[]): never {
  console.error(faults.join("\n"));
  process.exit(1);
}
