// Arguments for a tool from its JSON Schema: each property from earlier results by its name, from what the
// user asked about, or from the schema's own default.
import type { Json, JsonObject } from "../core/json.ts";
import { type Fact, findFact, findTexts, isObject, sayFact } from "./facts.ts";

export type Known = {
  facts: readonly Fact[];
  /** The id that the user asked about, such as C-1042; "" for none. */
  subject: string;
  /** What the user wrote, for properties that take free text. */
  said: string;
};

/** `missing`: required properties for which nothing is known; the tool cannot be called then. */
export function fillArguments(schema: JsonObject, known: Known): { input: JsonObject; missing: string[] } {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const input: JsonObject = {};
  const missing: string[] = [];
  for (const [name, given] of Object.entries(properties)) {
    const part = option(given);
    const needed = required.includes(name);
    const value = needed ? requiredValue(name, part, known) : optionalValue(name, part, known);
    if (value !== undefined) input[name] = value;
    else if (needed) missing.push(name);
  }
  return { input, missing };
}

function requiredValue(name: string, part: JsonObject, known: Known): Json | undefined {
  const found = optionalValue(name, part, known);
  if (found !== undefined) return found;
  if (Array.isArray(part.enum)) return part.enum[0];
  if (part.default !== undefined) return part.default;
  const type = String(part.type);
  if (type === "string") {
    const words = text(name, known);
    return words !== undefined && fits(words, part) ? words : undefined;
  }
  if (type === "array") return Number(part.minItems ?? 0) > 0 ? undefined : [];
  if (type !== "object") return undefined;
  const inner = fillArguments(part, known);
  return inner.missing.length === 0 ? inner.input : undefined;
}

function optionalValue(name: string, part: JsonObject, known: Known): Json | undefined {
  if (part.const !== undefined) return part.const;
  const type = String(part.type);
  if (type === "string" && isSubject(name) && fits(known.subject, part)) return known.subject;
  const found = findFact(known.facts, name, type);
  if (found !== undefined && fits(found, part)) return found;
  const items = isObject(part.items) ? part.items : {};
  if (type !== "array" || items.type !== "string") return undefined;
  const texts = findTexts(known.facts, name);
  return texts.length > 0 ? texts : undefined;
}

function fits(value: Json, part: JsonObject): boolean {
  if (Array.isArray(part.enum)) return part.enum.includes(value);
  if (typeof value === "string") return value !== "" && matches(value, part.pattern);
  if (!Array.isArray(value) || !isObject(part.items)) return true;
  const type = part.items.type;
  return value.every((one) => (type === "object" ? isObject(one) : typeof one === type || typeof type !== "string"));
}

function matches(value: string, pattern: Json | undefined): boolean {
  return typeof pattern !== "string" || new RegExp(pattern, "u").test(value);
}

/** The first alternative of a union that is not null. */
function option(part: Json | undefined): JsonObject {
  if (!isObject(part)) return {};
  const options = Array.isArray(part.anyOf) ? part.anyOf.filter(isObject) : [];
  return options.find((one) => one.type !== "null") ?? part;
}

function isSubject(name: string): boolean {
  return /^(customer|client|account|order|ticket|user|subject)?_?(id|number)$/i.test(name);
}

function text(name: string, known: Known): string | undefined {
  if (/^case_?id$/i.test(name) && known.subject !== "") return `CASE-${known.subject.replace(/^\D*/, "")}`;
  if (
    !/narrative|summary|reason|comment|note|description|text|message|body|title|subject|query|goal|next/i.test(name)
  ) {
    return undefined;
  }
  const facts = known.facts.filter((fact) => fact.depth === 0 && typeof fact.value !== "object").slice(0, 12);
  const about = known.subject === "" ? "" : `Regarding ${known.subject}: `;
  return facts.length > 0 ? `${about}${facts.map((fact) => sayFact(fact.key, fact.value)).join("; ")}.` : known.said;
}
