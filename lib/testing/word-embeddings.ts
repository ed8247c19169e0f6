// Embeddings for tests: always the same for the same words, nothing on the wire, and of no use beyond that. Texts that share
// words are near; real models find more.
import type { Embeddings } from "../ports/embeddings.ts";

const dimensions = 64;

/** @param options.model decides the price; default is one without */
export function wordEmbeddings(options: { model?: string } = {}): Embeddings {
  return {
    model: options.model ?? "words",
    async embed(texts, { signal } = {}) {
      signal?.throwIfAborted();
      const words = texts.map((text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
      return { vectors: words.map(vectorOf), inputTokens: words.flat().length };
    },
  };
}

function vectorOf(words: readonly string[]): number[] {
  const vector: number[] = Array.from({ length: dimensions }, () => 0);
  for (const word of words) {
    const slot = Array.from(word).reduce((sum, char) => (sum * 31 + (char.codePointAt(0) ?? 0)) % dimensions, 7);
    vector[slot] = (vector[slot] ?? 0) + 1;
  }
  return vector;
}
