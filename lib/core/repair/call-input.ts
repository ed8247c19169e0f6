// The arguments of a tool call as they arrived: text that may be cut, damaged or not an object. What cannot
// run is marked, never guessed; the text is kept for audit (H37).
import { BatonError } from "../errors.ts";
import { type JsonObject, toJson } from "../json.ts";

/** `invalid`: why the call must not run; `raw` then holds what was sent. */
export type CallInput = { input: JsonObject; raw?: string; invalid?: string };

/** Reads a call's arguments. Empty text is `{}`: that is how a call without arguments arrives. Never throws. */
export function readCallInput(text: string): CallInput {
  if (text.trim() === "") return { input: {} };
  const refuse = (invalid: string): CallInput => ({ input: {}, raw: text.toWellFormed(), invalid });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse("the arguments are not valid JSON");
  }
  if (!isJsonObject(value)) {
    return refuse(`the arguments must be a JSON object, not ${Array.isArray(value) ? "an array" : nameOf(value)}`);
  }
  try {
    toJson(value, "the input");
  } catch (error) {
    return refuse(error instanceof BatonError ? error.message : "the arguments cannot be stored");
  }
  return { input: value };
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  return value === null ? "null" : `a ${typeof value}`;
}
