// Meaning for tests: a vector with one number for each concept that a text has a word of, so that texts without a word in common
// can be near. And embeddings made of it, which count what they are asked.
import type { Embeddings } from "../../lib/ports/embeddings.ts";

const concepts: readonly RegExp[] = [
  /\b(violoncello|cello|instrument|music|orchestra)\b/i,
  /\b(sister|brother|sibling|family)\b/i,
  /\b(vegetarian|vegan|eat|dinner|food|cook)\b/i,
  /\b(Berlin|Munich|city|live|moved|home)\b/i,
  /\b(item|room)\b/i,
];

/** Of length one; a text without any concept has a direction of its own. */
export function meaningOf(text: string, dimensions = 8): number[] {
  const vector: number[] = Array.from({ length: dimensions }, () => 0);
  for (const [index, pattern] of concepts.entries()) if (pattern.test(text)) vector[index] = 1;
  if (!vector.includes(1)) vector[dimensions - 1] = 1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

export type ConceptEmbeddings = Embeddings & {
  /** The texts of each call. */
  calls: string[][];
  /** What the next calls throw. */
  fail(...errors: Error[]): void;
};

export function conceptEmbeddings(options: { model?: string } = {}): ConceptEmbeddings {
  const calls: string[][] = [];
  const errors: Error[] = [];
  return {
    model: options.model ?? "amazon.titan-embed-text-v2:0",
    calls,
    fail: (...next) => void errors.push(...next),
    async embed(texts, { signal } = {}) {
      calls.push([...texts]);
      signal?.throwIfAborted();
      const error = errors.shift();
      if (error) throw error;
      // As greedy as a tokenizer can be.
      const inputTokens = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      return { vectors: texts.map((text) => meaningOf(text)), inputTokens };
    },
  };
}
