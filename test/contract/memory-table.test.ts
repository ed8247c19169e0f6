import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { tableContract } from "./table-contract.ts";
import { tableModel } from "./table-model.ts";

tableContract("memory", async ({ now }) => createMemoryTable({ now }));
tableModel("memory", async ({ now }) => createMemoryTable({ now }));
