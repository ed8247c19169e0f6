// Vectors as they stand beside a fact: one byte a number, since only the angle matters and every turn reads all facts of its user.
import type { FactVector } from "../core/memory.ts";

/** The direction of `vector`, rounded to 127 steps each way; about 0.3 KB for 256 numbers. */
export function packVector(model: string, vector: readonly number[]): FactVector {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const scale = largest > 0 ? 127 / largest : 0;
  const bytes = Int8Array.from(vector, (value) => Math.round(value * scale));
  return { model, packed: Buffer.from(bytes.buffer).toString("base64") };
}

export function unpackVector({ packed }: FactVector): number[] {
  return Array.from(Buffer.from(packed, "base64"), (byte) => (byte > 127 ? byte - 256 : byte));
}
