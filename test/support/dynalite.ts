// DynamoDB's stand-in on a free loopback port, spoken to through the real client and wire.
import type { Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { CreateTableCommand, DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createTableInput } from "../../lib/adapters/dynamodb-schema.ts";

const dynalite: (options: { createTableMs: number; path?: string }) => Server = createRequire(import.meta.url)(
  "dynalite",
);

export type Dynalite = {
  url: string;
  client: DynamoDBClient;
  /** Makes a new, empty table and answers its name. */
  createTable(): Promise<string>;
  close(): Promise<void>;
};

export async function startDynalite(): Promise<Dynalite> {
  const server = dynalite({ createTableMs: 0 });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = dynamoDbClient(url);
  let tables = 0;
  return {
    url,
    client,
    async createTable() {
      const name = `baton-${++tables}`;
      await client.send(new CreateTableCommand(createTableInput(name)));
      for (let status: string | undefined; status !== "ACTIVE"; ) {
        status = (await client.send(new DescribeTableCommand({ TableName: name }))).Table?.TableStatus;
      }
      return name;
    },
    async close() {
      client.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
    },
  };
}

/** The real client, pointed at a loopback `endpoint`. */
export function dynamoDbClient(endpoint: string): DynamoDBClient {
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return new DynamoDBClient({ endpoint, region: "eu-central-1", credentials, maxAttempts: 3 });
}
