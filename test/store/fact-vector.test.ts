import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packVector, unpackVector } from "../../lib/store/fact-vector.ts";

const length = (vector: readonly number[]) => Math.hypot(...vector);
const cosine = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0) / (length(a) * length(b));

describe("a packed vector", () => {
  it("keeps its direction, of any length and scale", () => {
    const number = fc.double({ min: -1, max: 1, noNaN: true });
    const scale = fc.constantFrom(1e-6, 1, 1e6);
    fc.assert(
      fc.property(fc.array(number, { minLength: 16, maxLength: 256 }), scale, (direction, by) => {
        fc.pre(length(direction) > 0.1);
        const vector = direction.map((value) => value * by);
        const back = unpackVector(packVector("m", vector));
        expect(back).toHaveLength(vector.length);
        expect(cosine(vector, back)).toBeGreaterThan(0.99);
      }),
    );
  });

  it("has 344 characters for 256 numbers, and none without numbers", () => {
    const vector = Array.from({ length: 256 }, (_, i) => Math.sin(i));
    expect(packVector("m", vector).packed).toHaveLength(344);
    expect(unpackVector(packVector("m", []))).toEqual([]);
    expect(unpackVector(packVector("m", [0, 0]))).toEqual([0, 0]);
  });
});
