// The table's keys and indexes as data: the CDK construct, the stand-in in tests and the adapter read the
// same definition. No SDK is imported here, so constructs can use it.

/** Attributes of the keys. */
export const keySchema = { partition: "pk", sort: "sk" } as const;

/**
 * Sparse indexes: only items that carry both attributes stand in them. Both project everything: an item that
 * moves in an index is written there anyway (STATUS, once a turn, under 1 KB: the same units as its keys
 * alone), a list page is one query, and whoever lists or sweeps needs no right to read base items of all tenants.
 */
export const indexes = {
  /** What the sweeper should look at, by time. */
  due: { name: "due", partition: "dueShard", sort: "due", sortType: "N" },
  /** A tenant's sessions, by last activity. */
  recent: { name: "recent", partition: "list", sort: "listAt", sortType: "S" },
} as const;

/** Time to live, epoch seconds. */
export const ttlAttribute = "ttl";

/**
 * `due` of all tenants would share one partition key, every turn writes it about four times, and the newest
 * times are always neighbours: at 1,000 writes a second of one partition the index would hold up the whole
 * table at about 250 turns a second. Eight shards move that to 2,000, for eight small queries per sweep. The
 * number may grow (readers ask all shards), never shrink.
 */
export const dueShards = 8;

/** Shard of a partition key, 0 to 7 as text. All items of a session share one. */
export function dueShardOf(pk: string): string {
  let hash = 0;
  for (let i = 0; i < pk.length; i++) hash = (Math.imul(hash, 31) + pk.charCodeAt(i)) >>> 0;
  return String(hash % dueShards);
}

/** Input of CreateTable, for the stand-in and for development; in production the CDK construct makes the table. */
export function createTableInput(tableName: string) {
  return {
    TableName: tableName,
    BillingMode: "PAY_PER_REQUEST" as const,
    AttributeDefinitions: [
      attribute(keySchema.partition, "S"),
      attribute(keySchema.sort, "S"),
      ...Object.values(indexes).flatMap((index) => [
        attribute(index.partition, "S"),
        attribute(index.sort, index.sortType),
      ]),
    ],
    KeySchema: keys(keySchema),
    GlobalSecondaryIndexes: Object.values(indexes).map((index) => ({
      IndexName: index.name,
      KeySchema: keys(index),
      Projection: { ProjectionType: "ALL" as const },
    })),
  };
}

function attribute(name: string, type: "S" | "N") {
  return { AttributeName: name, AttributeType: type };
}

function keys({ partition, sort }: { partition: string; sort: string }) {
  return [
    { AttributeName: partition, KeyType: "HASH" as const },
    { AttributeName: sort, KeyType: "RANGE" as const },
  ];
}
