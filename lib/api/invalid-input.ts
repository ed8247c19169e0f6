// What a schema refused, as one error per field with its path: `$.content[0].text`.
import type { ZodError } from "zod";
import { type FieldError, InvalidInput } from "../core/errors.ts";

const maxErrors = 20;

export function invalidInput(error: ZodError): Error {
  const errors = error.issues.flatMap(fieldErrors).slice(0, maxErrors);
  const [first] = errors;
  return new InvalidInput(first ? `${first.path}: ${first.message}` : "the request is not valid", { errors });
}

function fieldErrors(issue: ZodError["issues"][number]): FieldError[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: pathOf([...issue.path, key]), message: "unknown field" }));
  }
  return [{ path: pathOf(issue.path), message: issue.message }];
}

function pathOf(parts: readonly PropertyKey[]): string {
  return parts.reduce<string>((path, part) => {
    if (typeof part === "number") return `${path}[${part}]`;
    const name = String(part).slice(0, 100);
    return /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
  }, "$");
}
