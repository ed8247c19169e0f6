// Chance with a seed, so that a run that fails can be played again (mulberry32).

export type Random = {
  /** 0 <= n < below, whole. */
  int(below: number): number;
  chance(share: number): boolean;
  pick<T>(from: readonly T[]): T;
};

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    int,
    chance: (share) => next() < share,
    pick(from) {
      const found = from[int(from.length)];
      if (found === undefined) throw new Error("nothing to pick from");
      return found;
    },
  };
}
