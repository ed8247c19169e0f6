import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { InvalidDefinition } from "../../lib/core/errors.ts";
import { loadPrices } from "../../lib/local/load-prices.ts";
import { readSettings } from "../../lib/local/settings.ts";

const folder = mkdtempSync(join(tmpdir(), "baton-prices-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("BATON_PRICES", () => {
  it("names a file of prices, relative to the working folder", () => {
    const rates = { input: 1, output: 2, cacheWrite: 3, cacheRead: 4 };
    writeFileSync(join(folder, "prices.json"), JSON.stringify({ models: { llama: rates } }));
    const { prices } = readSettings({ BATON_PRICES: "prices.json" }, folder);
    expect(loadPrices(prices ?? "", folder).llama).toEqual(rates);
  });

  it("that is missing, no JSON or not valid stops the start with the file's name", () => {
    writeFileSync(join(folder, "broken.json"), "{");
    writeFileSync(join(folder, "wrong.json"), '{"models":{"llama":{}}}');
    for (const [file, why] of [
      ["absent.json", "cannot be read"],
      ["broken.json", "is not JSON"],
      ["wrong.json", "models.llama.input"],
    ] as const) {
      expect(() => loadPrices(file, folder)).toThrow(InvalidDefinition);
      expect(() => loadPrices(file, folder)).toThrow(why);
      expect(() => loadPrices(file, folder)).toThrow(`BATON_PRICES=${file}`);
    }
  });
});
