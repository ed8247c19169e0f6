import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byAngle, byTurns } from "../../../lib/core/memory/nearness.ts";

describe("byAngle", () => {
  it("puts the smallest angle first, whatever the lengths, and of two alike the first", () => {
    const vectors = [
      [0, 1],
      [100, 1],
      [-1, 0],
      [1, 1],
      [0.5, 0.5],
    ];
    expect(byAngle([1, 0], vectors)).toEqual([1, 3, 4, 0, 2]);
  });

  it("leaves out what is missing, of another length, or without direction", () => {
    expect(byAngle([1, 0], [undefined, [1], [0, 0], [0, 1]])).toEqual([3]);
    expect(byAngle([0, 0], [[1, 0]])).toEqual([]);
  });
});

describe("byTurns", () => {
  it("takes the best of both before the second of either", () => {
    expect(byTurns([4, 2, 1], [3, 4, 0, 5])).toEqual([4, 3, 2, 1, 0, 5]);
  });

  it("holds everything once", () => {
    const order = fc.uniqueArray(fc.nat(50));
    fc.assert(
      fc.property(order, order, (one, other) => {
        const all = byTurns(one, other);
        expect(all.toSorted((a, b) => a - b)).toEqual([...new Set([...one, ...other])].toSorted((a, b) => a - b));
      }),
    );
  });
});
