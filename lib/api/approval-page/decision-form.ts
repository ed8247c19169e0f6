// What a posted form says. Only an explicit button decides; edited arguments come back with the types of
// the tool's schema, and whatever was left alone comes back exactly as it was.
import type { DecisionValue } from "../../core/approval.ts";
import { BatonError, type FieldError } from "../../core/errors.ts";
import { type Json, type JsonObject, toJson } from "../../core/json.ts";
import { type Field, fieldsOf } from "./fields.ts";

export type DecisionForm = (
  | {
      kind: "decide";
      decision: DecisionValue;
      /** Changed arguments, as they stood on the page that was confirmed; still to be validated by the tool. */
      edit?: JsonObject;
      /** The code from the second mail, digits only. */
      code?: string;
    }
  /** Changed arguments to validate, and to show again before they count. */
  | { kind: "change"; input: JsonObject }
  /** Show the form again with these faults; `submitted` holds what was typed, by control. */
  | { kind: "faulty"; errors: FieldError[]; submitted: Record<string, string> }
  /** No button, two buttons, or something that no page of ours sends. */
  | { kind: "unclear"; reason: string }
) & { nonce: string; comment?: string };

export const maxCommentCharacters = 2_000;

const decisions: readonly DecisionValue[] = ["approve", "reject", "happened", "not_happened", "give_up"];

/** `input` and `schema`: the arguments on the page that was posted, and the tool's JSON Schema. */
export function parseDecisionForm(form: FormData, schema: JsonObject, input: JsonObject): DecisionForm {
  const nonce = textOf(form, "nonce");
  const comment = unixLines(textOf(form, "comment")).trim();
  const base = { nonce, ...(comment ? { comment } : {}) };
  if (Array.from(comment).length > maxCommentCharacters) {
    return { nonce, kind: "unclear", reason: `a comment has at most ${maxCommentCharacters} characters` };
  }
  const buttons = form.getAll("do");
  const button = buttons.length === 1 ? buttons[0] : undefined;
  if (button === "change") return { ...base, ...parseArguments(form, fieldsOf(schema, input)) };
  const decision = decisions.find((one) => one === button);
  if (!decision) return { ...base, kind: "unclear", reason: "press one of the buttons" };
  const code = textOf(form, "code").replace(/\D/g, "");
  const withCode = code ? { code } : {};
  if (!form.has("edit")) return { ...base, kind: "decide", decision, ...withCode };
  const edit = parseJson(textOf(form, "edit"));
  if ("fault" in edit || !isObject(edit.value)) {
    return { ...base, kind: "unclear", reason: "the changed arguments were damaged" };
  }
  return { ...base, kind: "decide", decision, edit: edit.value, ...withCode };
}

function parseArguments(
  form: FormData,
  fields: Field[],
): { kind: "change"; input: JsonObject } | { kind: "faulty"; errors: FieldError[]; submitted: Record<string, string> } {
  const errors: FieldError[] = [];
  const submitted: Record<string, string> = {};
  const entries: [string, Json][] = [];
  for (const field of fields) {
    const text = form.has(field.control) ? unixLines(textOf(form, field.control)) : field.text;
    submitted[field.control] = text;
    const parsed = text === field.text ? { value: field.value } : parseField(field, text);
    if ("fault" in parsed) errors.push({ path: field.name ?? "", message: parsed.fault });
    else if (field.name === null) {
      if (isObject(parsed.value)) entries.push(...Object.entries(parsed.value));
      else errors.push({ path: "", message: "write a JSON object" });
    } else if (parsed.value !== undefined) entries.push([field.name, parsed.value]);
  }
  return errors.length > 0
    ? { kind: "faulty", errors, submitted }
    : { kind: "change", input: Object.fromEntries(entries) };
}

type Parsed = { value: Json | undefined } | { fault: string };

function parseField(field: Field, text: string): Parsed {
  if (field.kind === "text" || field.kind === "lines") return { value: text };
  const word = text.trim();
  if (word === "") return field.required ? { fault: "this is required" } : { value: undefined };
  switch (field.kind) {
    case "integer":
    case "number":
      return parseNumber(field.kind, word);
    case "boolean":
      return word === "true" || word === "false" ? { value: word === "true" } : { fault: "choose yes or no" };
    case "choice": {
      const value = field.options.find((option) => JSON.stringify(option) === word);
      return value === undefined ? { fault: "choose one of the list" } : { value };
    }
    case "json":
      return parseJson(word);
  }
}

function parseNumber(kind: "integer" | "number", word: string): Parsed {
  if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(word)) {
    return { fault: kind === "integer" ? "write a whole number, as in 1500" : "write a number, as in 1500.25" };
  }
  // -0 has no JSON form of its own.
  const value = Number(word) || 0;
  if (kind === "integer" && !Number.isInteger(value)) return { fault: "write a whole number, without a fraction" };
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
    return { fault: "this number is too large to be kept exactly" };
  }
  return { value };
}

function parseJson(text: string): { value: Json } | { fault: string } {
  try {
    return { value: toJson(JSON.parse(text)) };
  } catch (error) {
    return { fault: error instanceof BatonError ? error.message : "this is not valid JSON" };
  }
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

/** Browsers send CRLF whatever was typed. */
function unixLines(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
