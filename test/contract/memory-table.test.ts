import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { tableContract } from "./table-contract.ts";

tableContract("memory", async ({ now }) => createMemoryTable({ now }));
