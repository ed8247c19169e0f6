// Through the real client and wire, against dynalite.
import { afterAll, beforeAll } from "vitest";
import { createDynamoDbTable } from "../../lib/adapters/dynamodb-table.ts";
import { type Dynalite, startDynalite } from "../support/dynalite.ts";
import { type CreateTable, tableContract } from "./table-contract.ts";

let dynalite: Dynalite;
beforeAll(async () => {
  dynalite = await startDynalite();
});
afterAll(() => dynalite.close());

const create: CreateTable = async ({ now }) =>
  createDynamoDbTable({ client: dynalite.client, tableName: await dynalite.createTable(), now });

tableContract("dynamodb", create);
