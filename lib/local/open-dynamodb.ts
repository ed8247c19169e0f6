// BATON_STORE=dynamodb: the embedded runtime on DynamoDB or a stand-in, by the SDK's own environment variables
// (AWS_ENDPOINT_URL_DYNAMODB, AWS_REGION, credentials). Loaded only then, since the SDK is large.
import {
  CreateTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createTableInput } from "../adapters/dynamodb-schema.ts";
import { createDynamoDbTable } from "../adapters/dynamodb-table.ts";
import type { Table } from "../ports/table.ts";

export async function openDynamoDb(now: () => number): Promise<Table> {
  const standIn = process.env.AWS_ENDPOINT_URL_DYNAMODB !== undefined;
  const tableName = process.env.BATON_TABLE || "baton";
  const client = new DynamoDBClient({
    ...(process.env.AWS_REGION ? {} : { region: "us-east-1" }),
    ...(standIn && !process.env.AWS_ACCESS_KEY_ID
      ? { credentials: { accessKeyId: "local", secretAccessKey: "local" } }
      : {}),
  });
  // The real table is made by CDK; a stand-in starts empty.
  if (standIn) {
    await client.send(new CreateTableCommand(createTableInput(tableName))).catch((error: unknown) => {
      if (!(error instanceof ResourceInUseException)) throw error;
    });
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName: tableName });
  }
  return createDynamoDbTable({ client: DynamoDBDocumentClient.from(client), tableName, now });
}
