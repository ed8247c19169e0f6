// The JSON edge: what may enter a checkpoint. Nothing is dropped or replaced here: a value that JSON
// cannot hold is refused with its path, so that nothing vanishes between a tool and the log.
import { InvalidInput } from "./errors.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/**
 * Returns `value` unchanged when JSON can hold it exactly, else throws `InvalidInput` with one entry per
 * bad place (`$.a[0].b`). Refused: undefined, NaN, ±Infinity, -0, BigInt, functions, symbols, class
 * instances (Date, Map, Set, Buffer …), lone surrogates, and cycles.
 */
export function toJson(value: unknown, what = "value"): Json {
  const errors: { path: string; message: string }[] = [];
  check(value, "$", errors, []);
  if (errors.length > 0) {
    throw new InvalidInput(`${what} is not JSON: ${errors[0]?.path}: ${errors[0]?.message}`, { errors });
  }
  return value as Json;
}

type Fault = { path: string; message: string };

function check(value: unknown, path: string, errors: Fault[], above: object[]): void {
  const fault = typeof value === "object" && value !== null ? objectFault(value, above) : scalarFault(value);
  if (fault) {
    errors.push({ path, message: fault });
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const inner = [...above, value];
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) check(value[i], `${path}[${i}]`, errors, inner);
    return;
  }
  for (const [key, part] of Object.entries(value)) {
    const at = /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
    if (key === "__proto__") errors.push({ path: at, message: "this key is not allowed" });
    else check(part, at, errors, inner);
  }
}

function scalarFault(value: unknown): string | null {
  if (value === null || typeof value === "boolean") return null;
  if (typeof value === "string") return value.isWellFormed() ? null : "text holds half of a surrogate pair";
  if (typeof value !== "number") return `${typeof value} has no JSON form`;
  if (!Number.isFinite(value)) return `${value} has no JSON form`;
  return Object.is(value, -0) ? "-0 has no JSON form of its own; use 0" : null;
}

function objectFault(value: object, above: object[]): string | null {
  if (above.includes(value)) return "the value contains itself";
  const proto = Object.getPrototypeOf(value);
  if (Array.isArray(value) || proto === Object.prototype || proto === null) return null;
  return `${value.constructor?.name ?? "an object with a prototype"} has no JSON form; convert it first`;
}
