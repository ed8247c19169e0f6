// Durations as people write them ("90s", "24h", "3d"), parsed once at the edge to milliseconds.
import { InvalidDefinition } from "./errors.ts";

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A whole or decimal number and one unit: ms, s, m, h, d. */
export type Duration = `${number}${keyof typeof unitMs}`;

/** Milliseconds of `text`; throws `InvalidDefinition` naming `field` when it is not a positive duration. */
export function parseDuration(text: string, field: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  const value = match ? Number(match[1]) * unitMs[match[2] as keyof typeof unitMs] : Number.NaN;
  if (!(value > 0) || !Number.isSafeInteger(value)) {
    const message = `write a number and a unit (ms, s, m, h, d), as in "90s"; got ${JSON.stringify(text)}`;
    throw new InvalidDefinition(`${field}: ${message}`, { errors: [{ path: field, message }] });
  }
  return value;
}
