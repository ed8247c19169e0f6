import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { createSqliteTable } from "../../lib/adapters/sqlite-table.ts";
import { type CreateTable, tableContract } from "./table-contract.ts";

const dir = mkdtempSync(join(tmpdir(), "baton-sqlite-"));
let files = 0;
const create: CreateTable = async ({ now }) => createSqliteTable({ file: join(dir, `${++files}.db`), now });

tableContract("sqlite", create);

afterAll(() => rmSync(dir, { recursive: true }));
