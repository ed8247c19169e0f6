// BATON_PRICES: a file of prices laid over the table's own, for models that it does not know or for other rates.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { InvalidDefinition } from "../core/errors.ts";
import { type Prices, parsePrices } from "../core/prices.ts";

/** Throws `InvalidDefinition`, naming the file and what is wrong in it. */
export function loadPrices(file: string, cwd: string): Prices {
  const path = resolve(cwd, file);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    const why = cause instanceof SyntaxError ? "is not JSON" : "cannot be read";
    throw new InvalidDefinition(`BATON_PRICES=${file}: ${path} ${why}`, { cause });
  }
  return parsePrices(value, `BATON_PRICES=${file}`);
}
