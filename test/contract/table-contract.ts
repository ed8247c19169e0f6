// What every Table must do, in one place; run without skips on each adapter.
import { expiryContract } from "./table/expiry.ts";
import { itemsContract } from "./table/items.ts";
import { limitsContract } from "./table/limits.ts";
import { lookUpsContract } from "./table/look-ups.ts";
import { tableModel } from "./table/model.ts";
import { queriesContract } from "./table/queries.ts";
import type { CreateTable } from "./table/table-under-test.ts";
import { writesContract } from "./table/writes.ts";

export type { CreateTable };

/** `create` gives an empty table that tells the time by `now`; it is closed after each test. */
export function tableContract(name: string, create: CreateTable): void {
  itemsContract(name, create);
  limitsContract(name, create);
  writesContract(name, create);
  expiryContract(name, create);
  queriesContract(name, create);
  lookUpsContract(name, create);
  tableModel(name, create);
}
