// The arguments of a call as people read them, in mail and on the page. Tool input is hostile: characters
// that hide or reorder text are made visible, everything else stays as it is, in every script.
import type { Json } from "../json.ts";

/** One line of the list: where it stands (`a.b[0]`) and its text. */
export type Detail = { label: string; text: string };

/**
 * Every value in order, nested ones with their path. Nothing is left out; `{}` and `[]` are said. Whole
 * numbers under a name that ends with Cents are followed by the amount.
 */
export function describeInput(input: Json): Detail[] {
  if (input === null || typeof input !== "object") return [{ label: "", text: scalarText(input, "") }];
  return details(input, "");
}

/** Overrides and isolates, invisible and control characters, tags: all that can make text look like other text. */
const hidden =
  /[\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u2028\u2029\u00ad\u180e\u115f\u1160\u3164]|[\u{e0000}-\u{e007f}]|(?![\n\t])\p{Cc}|\p{Cs}/gu;

/** `text` with hidden characters written as [U+202E]. Line breaks and tabs stay; joiners and marks of real scripts too. */
export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(
      hidden,
      (character) => `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
    );
}

/** The same in one line, for subjects, titles and labels; at most `max` characters. */
export function visibleLine(text: string, max = 200): string {
  const line = visible(text).replace(/\s+/g, " ").trim();
  const characters = Array.from(line);
  return characters.length <= max ? line : `${characters.slice(0, max - 1).join("")}…`;
}

/** Indented JSON that shows hidden characters as the escapes that JSON has for them, so that it still parses to the same value. */
export function visibleJson(value: Json): string {
  return JSON.stringify(value, null, 2).replace(hidden, (character) =>
    Array.from({ length: character.length }, (_, unit) => {
      return `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`;
    }).join(""),
  );
}

function details(value: Json[] | { [key: string]: Json }, path: string): Detail[] {
  const entries: [string, Json, string][] = Array.isArray(value)
    ? value.map((part, index) => [`${path}[${index}]`, part, ""])
    : Object.entries(value).map(([key, part]) => [path ? `${path}.${key}` : key, part, key]);
  return entries.flatMap(([label, part, key]) =>
    part !== null && typeof part === "object" && Object.keys(part).length > 0
      ? details(part, label)
      : [{ label: visibleLine(label), text: scalarText(part, key) }],
  );
}

function scalarText(value: Json, key: string): string {
  if (typeof value === "string") return value === "" ? "(empty)" : visible(value);
  if (typeof value === "number" && key.endsWith("Cents") && Number.isSafeInteger(value)) {
    return `${value} (= ${amount(value)})`;
  }
  if (Array.isArray(value)) return "(empty list)";
  if (typeof value === "object" && value !== null) return "(nothing)";
  return String(value);
}

function amount(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, "0");
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${cents < 0 ? "-" : ""}${whole}.${digits.slice(-2)}`;
}
