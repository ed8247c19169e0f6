import { describe, expect, it } from "vitest";
import { generate } from "./generate.ts";
import sanctions from "./sanctions.json" with { type: "json" };
import transactions from "./transactions.json" with { type: "json" };

describe("the data files", () => {
  it("are what the generator makes", () => {
    expect({ "transactions.json": transactions, "sanctions.json": sanctions }).toEqual(generate());
  });

  it("hold each id once", () => {
    for (const { rows } of [transactions, sanctions]) expect(new Set(rows.map(([id]) => id)).size).toBe(rows.length);
  });
});
