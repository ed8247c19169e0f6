import { InvalidDefinition } from "../lib/core/errors.ts";

/** A variable that the construct sets. Throws `InvalidDefinition` when it is missing or empty. */
export function requiredVariable(name: string): string {
  const value = process.env[name];
  if (!value) throw new InvalidDefinition(`the environment variable ${name} is not set; the Agent construct sets it`);
  return value;
}
