// Repeatable chance for the generated data: mulberry32, a 32-bit generator in the public domain.

export type Random = { int: (from: number, to: number) => number; pick: <T>(list: readonly T[]) => T };

/** The same seed gives the same sequence. `int` includes both ends; `pick` throws on an empty list. */
export function random(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  const pick = <T>(list: readonly T[]): T => {
    const item = list[int(0, list.length - 1)];
    if (item === undefined) throw new RangeError("pick from an empty list");
    return item;
  };
  return { int, pick };
}
