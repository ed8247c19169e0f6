// What the contract cannot see: the requests that go out, and what becomes of AWS's errors.
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTableInput, dueShardOf, dueShards } from "../../lib/adapters/dynamodb-schema.ts";
import { createDynamoDbTable } from "../../lib/adapters/dynamodb-table.ts";
import { BatonError } from "../../lib/core/errors.ts";
import type { Table } from "../../lib/ports/table.ts";
import { type Dynalite, dynamoDbClient, startDynalite } from "../support/dynalite.ts";
import { type DynamoDbProxy, startDynamoDbProxy } from "../support/dynamodb-proxy.ts";

const key = { pk: "acme#s1", sk: "V#000000000001" };

describe("the DynamoDB table", () => {
  let dynalite: Dynalite;
  let proxy: DynamoDbProxy;
  let client: DynamoDBClient;
  let tableName: string;
  let table: Table;

  beforeAll(async () => {
    dynalite = await startDynalite();
  });
  afterAll(() => dynalite.close());
  beforeEach(async () => {
    tableName = await dynalite.createTable();
    proxy = await startDynamoDbProxy(dynalite.url);
    client = dynamoDbClient(proxy.url);
    table = createDynamoDbTable({ client, tableName, now: () => 1_800_000_000_000 });
  });
  afterEach(async () => {
    client.destroy();
    await proxy.close();
  });

  const failureOf = async (work: Promise<unknown>): Promise<[string, string]> => {
    const error: unknown = await work.then(
      () => new Error("it did not fail"),
      (thrown: unknown) => thrown,
    );
    return error instanceof BatonError ? [error.name, error.disposition] : [String(error), "?"];
  };

  describe("when an answer is lost", () => {
    it("adds once: the client does not repeat the write (H10)", async () => {
      await table.put(key);
      proxy.fail("lose answer");
      expect(await failureOf(table.update(key, { add: { spent: 5 } }))).toStrictEqual([
        "StoreUnavailable",
        "Transient",
      ]);
      expect(await table.get(key)).toStrictEqual({ ...key, spent: 5 });
    });

    it("does not take its own success for a refusal (G5, H10)", async () => {
      proxy.fail("lose answer");
      const put = table.put({ ...key, writer: "w" }, { absent: true });
      expect(await failureOf(put)).toStrictEqual(["StoreUnavailable", "Transient"]);
      expect(await table.get(key)).toStrictEqual({ ...key, writer: "w" });
      expect(proxy.requests.map(({ operation }) => operation)).toStrictEqual(["PutItem", "GetItem"]);
    });

    it("does not repeat a removal or a lost request either", async () => {
      await table.put(key);
      proxy.fail("lose request");
      expect(await failureOf(table.remove(key))).toStrictEqual(["StoreUnavailable", "Transient"]);
      expect(await table.get(key)).toStrictEqual(key);
    });

    it("does not repeat a write after a server error, which leaves it open", async () => {
      proxy.fail({ status: 500, type: "InternalServerError" });
      expect(await failureOf(table.put(key))).toStrictEqual(["StoreUnavailable", "Transient"]);
      expect(proxy.requests).toHaveLength(1);
    });

    it("repeats reads", async () => {
      await table.put(key);
      proxy.fail("lose answer", { status: 500, type: "InternalServerError" });
      expect(await table.get(key)).toStrictEqual(key);
      proxy.fail("lose request");
      expect(await table.query({ pk: key.pk })).toStrictEqual([key]);
    });

    it("leaves the client's own behaviour as it was for others", async () => {
      proxy.fail("lose request");
      await client.send(new PutItemCommand({ TableName: tableName, Item: { pk: { S: "x" }, sk: { S: "y" } } }));
      expect(proxy.requests).toHaveLength(2);
    });
  });

  it("repeats a throttled write, which did not happen", async () => {
    proxy.fail({ status: 400, type: "ProvisionedThroughputExceededException" });
    expect(await table.put(key, { absent: true })).toBe("ok");
    expect(proxy.requests).toHaveLength(2);
  });

  it("says StoreThrottled when throttling does not end", async () => {
    const fault = { status: 400, type: "ThrottlingException" };
    proxy.fail(fault, fault, fault);
    expect(await failureOf(table.put(key))).toStrictEqual(["StoreThrottled", "Transient"]);
    proxy.fail(fault, fault, fault);
    expect(await failureOf(table.query({ pk: "a" }))).toStrictEqual(["StoreThrottled", "Transient"]);
  });

  const failures: [{ status: number; type: string; message?: string }, string, string][] = [
    [
      { status: 400, type: "ValidationException", message: "Item size has exceeded the maximum allowed size" },
      "ItemTooLarge",
      "Terminal",
    ],
    [
      {
        status: 400,
        type: "ValidationException",
        message: "Item size to update has exceeded the maximum allowed size",
      },
      "ItemTooLarge",
      "Terminal",
    ],
    [
      {
        status: 400,
        type: "ValidationException",
        message: "An operand in the update expression has an incorrect data type",
      },
      "InvalidInput",
      "Misuse",
    ],
    [
      { status: 400, type: "ValidationException", message: "The table does not have the specified index: due" },
      "StoreRejected",
      "Terminal",
    ],
    [{ status: 400, type: "AccessDeniedException" }, "StoreRejected", "Terminal"],
    [{ status: 400, type: "ResourceNotFoundException" }, "StoreRejected", "Terminal"],
  ];
  for (const [fault, name, disposition] of failures) {
    it(`turns ${fault.type} (${fault.message ?? "any"}) into ${name}`, async () => {
      proxy.fail(fault);
      expect(await failureOf(table.put(key))).toStrictEqual([name, disposition]);
    });
  }

  it("says StoreUnavailable when nobody answers", async () => {
    await proxy.close();
    expect(await failureOf(table.put(key))).toStrictEqual(["StoreUnavailable", "Transient"]);
    expect(await failureOf(table.get(key))).toStrictEqual(["StoreUnavailable", "Transient"]);
  });

  it("reads strongly and uses only the operations that a tenant's role allows", async () => {
    await table.put(key);
    await table.get(key);
    await table.query({ pk: key.pk });
    await table.update(key, { set: { a: 1 } });
    await table.recent({ list: "acme#sessions" });
    await table.remove(key);
    const seen = proxy.requests.map(({ operation, body }) => [operation, body.ConsistentRead, body.IndexName]);
    expect(seen).toStrictEqual([
      ["PutItem", undefined, undefined],
      ["GetItem", true, undefined],
      ["Query", true, undefined],
      ["UpdateItem", undefined, undefined],
      ["Query", undefined, "recent"],
      ["DeleteItem", undefined, undefined],
    ]);
  });

  it("reads the latest checkpoint with one query of one item", async () => {
    for (let n = 1; n <= 5; n++) await table.put({ ...key, sk: `V#${n}` });
    proxy.requests.length = 0;
    await table.query({ pk: key.pk, prefix: "V#", reverse: true, limit: 1 });
    expect(proxy.requests.map(({ body }) => body.Limit)).toStrictEqual([1]);
  });

  it("refuses to hand out what no Table has written (H05)", async () => {
    const alien = { pk: { S: "acme#s1" }, sk: { S: "X" }, set: { SS: ["a"] } };
    await dynalite.client.send(new PutItemCommand({ TableName: tableName, Item: alien }));
    const error = await table.get({ pk: "acme#s1", sk: "X" }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "UnreadableRecord", message: expect.stringContaining("acme#s1/X") });
    const huge = { pk: { S: "acme#s1" }, sk: { S: "X" }, n: { N: "9007199254740993" } };
    await dynalite.client.send(new PutItemCommand({ TableName: tableName, Item: huge }));
    expect(await failureOf(table.query({ pk: "acme#s1" }))).toStrictEqual(["UnreadableRecord", "Terminal"]);
  });

  it("uses the index names that it is given", async () => {
    const other = createDynamoDbTable({ client, tableName, now: Date.now, indexNames: { due: "a", recent: "b" } });
    await failureOf(other.recent({ list: "l" }));
    await failureOf(other.due({ before: 1 }));
    expect([...new Set(proxy.requests.map(({ body }) => body.IndexName))].sort()).toStrictEqual(["a", "b"]);
  });
});

describe("the DynamoDB schema", () => {
  it("has sparse indexes for the sweeper and the listing", () => {
    expect(createTableInput("t")).toStrictEqual({
      TableName: "t",
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "sk", AttributeType: "S" },
        { AttributeName: "dueShard", AttributeType: "S" },
        { AttributeName: "due", AttributeType: "N" },
        { AttributeName: "list", AttributeType: "S" },
        { AttributeName: "listAt", AttributeType: "S" },
      ],
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: "due",
          KeySchema: [
            { AttributeName: "dueShard", KeyType: "HASH" },
            { AttributeName: "due", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "ALL" },
        },
        {
          IndexName: "recent",
          KeySchema: [
            { AttributeName: "list", KeyType: "HASH" },
            { AttributeName: "listAt", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "ALL" },
        },
      ],
    });
  });

  it("spreads sessions over all shards of `due`, each within 20 % of its part", () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 8000; i++) {
      const shard = dueShardOf(`acme#20260505_143022_${i.toString(16).padStart(8, "0")}`);
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toStrictEqual(Array.from({ length: dueShards }, (_, i) => String(i)));
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(200);
  });
});
