// What earlier tool results say, by name: where the demo model takes its arguments and its final answer from.
import type { Json, JsonObject } from "../core/json.ts";

/** `depth` 0 is the top level of a result; `listed`: inside an array, so one of several. Newest result first. */
export type Fact = { key: string; value: Json; depth: number; listed: boolean; run: number };

/** Facts of results given oldest first. Text that is not JSON is searched for `"key": value` pairs. */
export function gatherFacts(results: readonly string[]): Fact[] {
  return results.flatMap((text, run) => factsOf(text, run)).sort((a, b) => b.run - a.run || a.depth - b.depth);
}

function factsOf(text: string, run: number): Fact[] {
  const value = parseJson(text);
  if (value !== undefined) return walk(value, run, 0, false);
  const pairs = [...text.matchAll(/"([A-Za-z_]\w{0,60})"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false)/g)];
  return pairs.map(([, key = "", raw = "null"]): Fact => {
    return { key, value: parseJson(raw) ?? raw, depth: 1, listed: true, run };
  });
}

function walk(value: Json, run: number, depth: number, listed: boolean): Fact[] {
  if (typeof value !== "object" || value === null || depth > 6) return [];
  if (Array.isArray(value)) return value.slice(0, 1000).flatMap((part) => walk(part, run, depth + 1, true));
  return Object.entries(value).flatMap(([key, part]) => [
    { key, value: part, depth, listed, run },
    ...walk(part, run, depth + 1, listed),
  ]);
}

/** The best value for a property of this JSON Schema type, or undefined. Sums listed amounts: money adds up. */
export function findFact(facts: readonly Fact[], property: string, type: string): Json | undefined {
  const fits = facts.filter((fact) => typeOf(fact.value, type));
  const same = fits.filter((fact) => plain(fact.key) === plain(property));
  const single = same.find((fact) => !fact.listed);
  if (single) return single.value;
  if (same.length > 0 && /cents|amount/i.test(property)) return sum(same.filter((fact) => fact.run === same[0]?.run));
  if (same[0]) return same[0].value;
  return fits.find((fact) => !fact.listed && akin(fact.key, property))?.value;
}

/** Different texts under keys like `property` (`names` finds `name` and `counterpartyName`), at most 20. */
export function findTexts(facts: readonly Fact[], property: string): string[] {
  const one = plain(property).replace(/s$/, "");
  const found = facts.filter((fact) => typeof fact.value === "string" && plain(fact.key).endsWith(one));
  return [...new Set(found.map((fact) => String(fact.value)))].slice(0, 20);
}

/** Facts whose whole name stands in `question`, as in "what was the risk score?". */
export function factsNamedIn(facts: readonly Fact[], question: string): Fact[] {
  const asked = new Set(question.toLowerCase().match(/[a-z]+/g));
  const seen = new Set<string>();
  return facts.filter((fact) => {
    if (typeof fact.value === "object" || fact.listed || seen.has(fact.key)) return false;
    const words = wordsOf(fact.key).filter((word) => word !== "cents");
    const named = words.length > 0 && words.some((word) => word.length > 3) && words.every((word) => asked.has(word));
    if (named) seen.add(fact.key);
    return named;
  });
}

/** One fact for people: `risk score 87`, `total 12,345.67` for 1234567 cents, `3 hits` for a list. */
export function sayFact(key: string, value: Json): string {
  const words = wordsOf(key).join(" ");
  if (Array.isArray(value)) return `${value.length} ${words}`;
  if (typeof value === "number" && /cents$/i.test(key)) return `${words.replace(/ ?cents$/, "")} ${money(value)}`;
  const text = typeof value === "string" ? value.replace(/\s+/g, " ") : JSON.stringify(value);
  return `${words} ${text.length > 160 ? `${text.slice(0, 160).toWellFormed()}…` : text}`;
}

export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function typeOf(value: Json, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isSafeInteger(value);
  return typeof value === type;
}

function plain(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** `totalAmountCents` serves `amountCents`, `id` does not serve `customerId`. */
function akin(key: string, property: string): boolean {
  const [longer, shorter] = [plain(key), plain(property)].sort((a, b) => b.length - a.length);
  return shorter !== undefined && shorter.length >= 5 && longer?.endsWith(shorter) === true;
}

function wordsOf(key: string): string[] {
  return key
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

function sum(facts: readonly Fact[]): number {
  return facts.reduce((total, fact) => total + Number(fact.value), 0);
}

function money(cents: number): string {
  const whole = String(Math.floor(Math.abs(cents) / 100)).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${cents < 0 ? "-" : ""}${whole}.${String(Math.abs(cents) % 100).padStart(2, "0")}`;
}
