// Orders of facts by how near they are to a question, and one order out of two. Pure; the vectors come from elsewhere.

/**
 * Indexes of `vectors`, the smallest angle to `query` first; of two alike, the first. One that is missing, is of another length or
 * has no direction is left out.
 */
export function byAngle(query: readonly number[], vectors: readonly (readonly number[] | undefined)[]): number[] {
  const scored = vectors.flatMap((vector, index) => {
    const cosine = vector?.length === query.length ? cosineOf(query, vector) : Number.NaN;
    return Number.isNaN(cosine) ? [] : [{ index, cosine }];
  });
  return scored.sort((a, b) => b.cosine - a.cosine || a.index - b.index).map(({ index }) => index);
}

/**
 * Everything that stands in either order, once, taken by turns: the best of both is in front, and neither can crowd out the other
 * with what it finds only a little near.
 */
export function byTurns(one: readonly number[], other: readonly number[]): number[] {
  const longest = Math.max(one.length, other.length);
  const taken = Array.from({ length: longest }, (_, place) => [one[place], other[place]]).flat();
  return [...new Set(taken.filter((index) => index !== undefined))];
}

function cosineOf(a: readonly number[], b: readonly number[]): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (const [i, x] of a.entries()) {
    const y = b[i] ?? 0;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return dot / Math.sqrt(aa * bb);
}
