// The Table on DynamoDB. Only GetItem, Query, PutItem, UpdateItem and DeleteItem, so that a role limited by
// `dynamodb:LeadingKeys` suffices; base reads are strong. This file is bundled into every Lambda: commands and
// types only, no second SDK.
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { UnreadableRecord } from "../core/errors.ts";
import type { Item, Key, Page, QueryOptions, Table } from "../ports/table.ts";
import { positionOf, readCursor, writeCursor } from "../ports/table-cursor.ts";
import {
  checkChange,
  checkCondition,
  checkDue,
  checkEquals,
  checkQuery,
  checkRecent,
  cleanItem,
  cleanKey,
} from "../ports/table-rules.ts";
import { checkSize, compareText, isLive } from "../ports/table-semantics.ts";
import { dueShardOf, dueShards, indexes } from "./dynamodb-schema.ts";
import { expression } from "./dynamodb-table-expression.ts";
import { isRefusal, storeFailure, writingOnce } from "./dynamodb-table-failure.ts";

export type DynamoDbTableOptions = {
  /** Its own retries (set `maxAttempts: 3`) serve reads and throttling; a write whose answer was lost is never repeated. */
  client: DynamoDBClient;
  tableName: string;
  /** Epoch milliseconds, for expiry. */
  now: () => number;
  /** @default the names in dynamodb-schema.ts */
  indexNames?: { due: string; recent: string };
};

type Stream = AsyncIterator<Item, undefined>;

export function createDynamoDbTable(options: DynamoDbTableOptions): Table {
  const { client, tableName: TableName, indexNames } = options;
  const documents = writingOnce(client);
  const nowSeconds = () => Math.floor(options.now() / 1000);

  /** Follows every page until the reader stops. */
  async function* pages(input: Omit<QueryCommandInput, "TableName">): AsyncGenerator<Item, undefined> {
    let start = input.ExclusiveStartKey;
    do {
      const page = await documents
        .send(new QueryCommand({ ...input, TableName, ExclusiveStartKey: start }))
        .catch((error: unknown) => {
          throw storeFailure(error, "Query");
        });
      for (const raw of page.Items ?? []) yield readItem(raw);
      start = page.LastEvaluatedKey;
    } while (start);
  }

  function indexQuery(index: "due" | "recent", partition: string, rest: { before?: number; limit?: number }) {
    const { name, sort, partition: attribute } = indexes[index];
    const e = expression();
    const keys = [`${e.name(attribute)} = ${e.value(partition)}`];
    if (rest.before !== undefined) keys.push(`${e.name(sort)} <= ${e.value(rest.before)}`);
    return {
      IndexName: indexNames?.[index] ?? name,
      KeyConditionExpression: keys.join(" AND "),
      FilterExpression: e.unexpired(nowSeconds()),
      ScanIndexForward: index === "due",
      ...(rest.limit === undefined ? {} : { Limit: rest.limit + 1 }),
      ...e.parts(),
    };
  }

  return {
    async put(item, condition) {
      const clean = cleanItem(item);
      checkCondition(condition);
      checkSize(clean);
      const e = expression();
      const parts = condition ? { ConditionExpression: e.condition(condition, nowSeconds()), ...e.parts() } : {};
      return refusable("PutItem", async () => {
        await documents.send(new PutCommand({ TableName, Item: withShard(clean), ...parts }));
        return "ok" as const;
      });
    },

    async get(key) {
      const input = { TableName, Key: cleanKey(key), ConsistentRead: true };
      const answer = await documents.send(new GetCommand(input)).catch((error: unknown) => {
        throw storeFailure(error, "GetItem");
      });
      const item = answer.Item ? readItem(answer.Item) : null;
      return isLive(item, options.now()) ? item : null;
    },

    async query(query) {
      checkQuery(query);
      const range = sortKeyRange(query);
      if (range === null) return [];
      const e = expression();
      const keys = [`${e.name("pk")} = ${e.value(query.pk)}`];
      if (query.prefix) keys.push(`begins_with(${e.name("sk")}, ${e.value(query.prefix)})`);
      const stream = pages({
        KeyConditionExpression: keys.join(" AND "),
        FilterExpression: e.unexpired(nowSeconds()),
        ConsistentRead: true,
        ScanIndexForward: !query.reverse,
        ...(query.limit === undefined ? {} : { Limit: query.limit }),
        ...(range.start === undefined ? {} : { ExclusiveStartKey: { pk: query.pk, sk: range.start } }),
        ...e.parts(),
      });
      const found: Item[] = [];
      for await (const item of stream) {
        found.push(item);
        if (found.length === query.limit) break;
      }
      return found;
    },

    async update(key, change, equals) {
      const target = cleanKey(key);
      checkChange(change);
      checkEquals(equals);
      const e = expression();
      const update = e.update(withShardChange(target, change));
      const input = {
        TableName,
        Key: target,
        ...(update ? { UpdateExpression: update } : {}),
        ConditionExpression: e.condition({ equals: equals ?? {} }, nowSeconds()),
        ReturnValues: "ALL_NEW" as const,
        ...e.parts(),
      };
      return refusable("UpdateItem", async () => {
        const { Attributes } = await documents.send(new UpdateCommand(input));
        return readItem(Attributes ?? {});
      });
    },

    async remove(key, equals) {
      const target = cleanKey(key);
      checkEquals(equals);
      const e = expression();
      const now = nowSeconds();
      const condition = () =>
        `(${e.condition({ absent: true }, now)}) OR (${e.condition({ equals: equals ?? {} }, now)})`;
      const parts = equals ? { ConditionExpression: condition(), ...e.parts() } : {};
      return refusable("DeleteItem", async () => {
        await documents.send(new DeleteCommand({ TableName, Key: target, ...parts }));
        return "ok" as const;
      });
    },

    async due({ before, limit, cursor }) {
      checkDue({ before, limit });
      const streams = readCursor(cursor, "due", dueShards).map((position, shard) => {
        const [due, pk, sk] = position ?? [];
        const start = position ? { ExclusiveStartKey: { dueShard: String(shard), due, pk, sk } } : {};
        // The start must lie inside of what is asked for: after a position beyond `before` nothing follows.
        if (typeof due === "number" && due > before) return { position, stream: nothing() };
        return { position, stream: pages({ ...indexQuery("due", String(shard), { before, limit }), ...start }) };
      });
      return merge(streams, "due", limit);
    },

    async recent({ list, limit, cursor }) {
      checkRecent({ list, limit });
      const streams = readCursor(cursor, "listAt", 1).map((position) => {
        const [listAt, pk, sk] = position ?? [];
        const start = position ? { ExclusiveStartKey: { list, listAt, pk, sk } } : {};
        return { position, stream: pages({ ...indexQuery("recent", list, { limit }), ...start }) };
      });
      return merge(streams, "listAt", limit);
    },

    /** The client belongs to whoever made it. */
    async close() {},
  };
}

type Part = { position: ReturnType<typeof readCursor>[number]; stream: Stream };

/** Reads sorted streams as one, until `limit`; the cursor says where each of them stands. */
async function merge(parts: Part[], attribute: "due" | "listAt", limit = Number.POSITIVE_INFINITY): Promise<Page> {
  const heads = await Promise.all(parts.map(({ stream }) => stream.next()));
  const positions = parts.map(({ position }) => position);
  const items: Item[] = [];
  while (items.length < limit) {
    const at = earliest(
      heads.map((head) => head.value),
      attribute,
    );
    const [item, part] = [heads[at]?.value, parts[at]];
    if (!item || !part) return { items };
    items.push(item);
    positions[at] = positionOf(item, attribute);
    heads[at] = await part.stream.next();
  }
  return heads.every((head) => head.done) ? { items } : { items, cursor: writeCursor(positions) };
}

/** Index of the item that comes first, -1 when there is none. One list alone is in its own order already. */
function earliest(items: (Item | undefined)[], attribute: "due" | "listAt"): number {
  return items.reduce((best, item, at) => {
    const other = items[best];
    if (!item) return best;
    return !other || (attribute === "due" && compareDue(item, other) < 0) ? at : best;
  }, -1);
}

function compareDue(a: Item, b: Item): number {
  return (a.due ?? 0) - (b.due ?? 0) || compareText(a.pk, b.pk);
}

async function* nothing(): AsyncGenerator<Item, undefined> {}

/** Where a query starts (DynamoDB takes only one condition on the sort key); null: nothing can be found. */
function sortKeyRange({ prefix = "", after, reverse }: QueryOptions): { start?: string } | null {
  if (!after) return {};
  if (after.startsWith(prefix)) return { start: after };
  const beforePrefix = compareText(after, prefix) < 0;
  return beforePrefix === Boolean(reverse) ? null : {};
}

async function refusable<T>(operation: string, write: () => Promise<T>): Promise<T | "refused"> {
  try {
    return await write();
  } catch (error) {
    if (isRefusal(error)) return "refused";
    throw storeFailure(error, operation);
  }
}

function withShard(item: Item): Item {
  return item.due === undefined ? item : { ...item, dueShard: dueShardOf(item.pk) };
}

function withShardChange(key: Key, change: Parameters<Table["update"]>[1]): typeof change {
  // A shard that stays behind when `due` is removed does no harm: the index needs both.
  if (change.set?.due === undefined) return change;
  return { ...change, set: { ...change.set, dueShard: dueShardOf(key.pk) } };
}

/** What was stored, without the adapter's own attribute. Throws UnreadableRecord for what no Table has written. */
function readItem(raw: Record<string, unknown>): Item {
  const { dueShard: _shard, ...item } = raw as Item;
  try {
    return cleanItem(item);
  } catch (cause) {
    throw new UnreadableRecord(`${String(raw.pk)}/${String(raw.sk)}: an attribute that Baton did not write`, { cause });
  }
}
