// The Table in one SQLite file: the embedded default. Every acknowledged write is synced to the disk (WAL with
// synchronous=FULL), so it survives power loss; several processes may use the file at once.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { StoreRejected, StoreUnavailable, UnreadableRecord } from "../core/errors.ts";
import type { Item, Key, QueryOptions, Table } from "../ports/table.ts";
import { type Position, positionOf, readCursor, writeCursor } from "../ports/table-cursor.ts";
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
import { changed, checkSize, hasAll, holds, isLive } from "../ports/table-semantics.ts";
import { fromRow, type Row, toRow } from "./sqlite-table-row.ts";
import { schema, statements } from "./sqlite-table-sql.ts";

/** `file`: made with its folder when missing. `now`: epoch milliseconds, for expiry. */
export type SqliteTableOptions = { file: string; now: () => number };

/** How long a write waits for another process's, in milliseconds. */
const busyTimeoutMs = 10_000;
/** Expired items are absent at once and deleted later, as on DynamoDB: never because a clock was briefly wrong. */
const cleanUpAfterSeconds = 48 * 3600;
const writesBetweenCleanUps = 1000;

export function createSqliteTable({ file, now }: SqliteTableOptions): Table {
  const database = open(file);
  const sql = prepareAll(file, database);
  const nowSeconds = () => Math.floor(now() / 1000);
  let writes = 0;

  function liveItem(key: Key): Item | null {
    const row = sql.get.get(key.pk, key.sk) as Row | undefined;
    const item = row ? fromRow(row) : null;
    return isLive(item, now()) ? item : null;
  }

  /** Reads, decides and writes with no other writer in between, in this process or another. */
  function decide<T>(work: () => T): T {
    sql.begin.run();
    try {
      const result = work();
      sql.commit.run();
      return result;
    } catch (error) {
      if (database.isTransaction) sql.rollback.run();
      throw error;
    }
  }

  function cleanUp(): void {
    sql.cleanUp.run(nowSeconds() - cleanUpAfterSeconds);
  }

  async function write<T>(work: () => T): Promise<T> {
    return guard(file, () => {
      if (++writes % writesBetweenCleanUps === 0) cleanUp();
      return work();
    });
  }

  guard(file, cleanUp);

  return {
    async put(item, condition) {
      const clean = cleanItem(item);
      checkCondition(condition);
      checkSize(clean);
      const row = toRow(clean);
      return write(() => {
        if (condition && "absent" in condition) {
          return sql.putIfAbsent.run(...row, nowSeconds()).changes === 1 ? "ok" : "refused";
        }
        if (!condition) {
          sql.put.run(...row);
          return "ok";
        }
        return decide(() => {
          if (!holds(condition, liveItem(clean))) return "refused";
          sql.put.run(...row);
          return "ok";
        });
      });
    },

    async get(key) {
      const target = cleanKey(key);
      return guard(file, () => liveItem(target));
    },

    async query(options) {
      checkQuery(options);
      const { from, to } = bounds(options);
      const statement = options.reverse ? sql.descending : sql.ascending;
      const rows = guard(file, () => statement.all(options.pk, from, to, nowSeconds(), options.limit ?? -1)) as Row[];
      return rows.map(fromRow);
    },

    async update(key, change, equals) {
      const target = cleanKey(key);
      checkChange(change);
      checkEquals(equals);
      return write(() =>
        decide(() => {
          const item = liveItem(target);
          if (!item || !hasAll(item, equals)) return "refused";
          const after = cleanItem(changed(item, change));
          checkSize(after);
          sql.put.run(...toRow(after));
          return after;
        }),
      );
    },

    async remove(key, equals) {
      const target = cleanKey(key);
      checkEquals(equals);
      return write(() => {
        if (!equals) {
          sql.remove.run(target.pk, target.sk);
          return "ok";
        }
        return decide(() => {
          const item = liveItem(target);
          if (item && !hasAll(item, equals)) return "refused";
          sql.remove.run(target.pk, target.sk);
          return "ok";
        });
      });
    },

    async due(options) {
      checkDue(options);
      const [start = null] = readCursor(options.cursor, "due", 1);
      const after: Position = start ?? [-1, "", ""];
      const take = options.limit === undefined ? -1 : options.limit + 1;
      const rows = guard(file, () => sql.due.all(options.before, nowSeconds(), ...after, take)) as Row[];
      return page(rows, "due", options.limit);
    },

    async recent(options) {
      checkRecent(options);
      const [start = null] = readCursor(options.cursor, "listAt", 1);
      const [at, pk, sk] = start ?? [pastAllText, "", ""];
      const before = typeof at === "string" ? Buffer.from(at) : pastAllText;
      const take = options.limit === undefined ? -1 : options.limit + 1;
      const rows = guard(file, () => sql.recent.all(options.list, nowSeconds(), before, pk, sk, take)) as Row[];
      return page(rows, "listAt", options.limit);
    },

    async close() {
      if (database.isOpen) database.close();
    },
  };
}

/** A byte that UTF-8 never uses: above the first byte of any text. */
const pastAllText = Buffer.of(0xff);

/** Sort keys from `from` on and before `to`, for `prefix` and `after` together. */
function bounds({ prefix = "", after, reverse }: QueryOptions): { from: Buffer; to: Buffer } {
  const from = Buffer.from(prefix);
  const to = Buffer.concat([from, pastAllText]);
  if (!after) return { from, to };
  const edge = Buffer.from(after);
  if (reverse) return { from, to: Buffer.compare(edge, to) < 0 ? edge : to };
  // The text right after `after` is `after` and a zero byte.
  const next = Buffer.concat([edge, Buffer.of(0)]);
  return { from: Buffer.compare(next, from) > 0 ? next : from, to };
}

function page(rows: Row[], attribute: "due" | "listAt", limit = rows.length) {
  const items = rows.slice(0, limit).map(fromRow);
  const last = items.at(-1);
  return rows.length > limit && last ? { items, cursor: writeCursor([positionOf(last, attribute)]) } : { items };
}

function open(file: string): DatabaseSync {
  return guard(file, () => {
    mkdirSync(dirname(file), { recursive: true });
    const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
    database.exec(schema);
    return database;
  });
}

function prepareAll(file: string, database: DatabaseSync): Record<keyof typeof statements, StatementSync> {
  const prepare = (name: keyof typeof statements) => guard(file, () => database.prepare(statements[name]));
  return {
    put: prepare("put"),
    putIfAbsent: prepare("putIfAbsent"),
    get: prepare("get"),
    remove: prepare("remove"),
    ascending: prepare("ascending"),
    descending: prepare("descending"),
    due: prepare("due"),
    recent: prepare("recent"),
    cleanUp: prepare("cleanUp"),
    begin: prepare("begin"),
    commit: prepare("commit"),
    rollback: prepare("rollback"),
  };
}

/** Runs `work` and gives SQLite's errors their type (result codes: sqlite.org, "Result and Error Codes"). */
function guard<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof Error) || !("code" in cause) || cause.code !== "ERR_SQLITE_ERROR") throw cause;
    const code = "errcode" in cause && typeof cause.errcode === "number" ? cause.errcode & 0xff : 0;
    const message = `${file}: ${cause.message}`;
    if ([busy, locked, ioError, full, cannotOpen].includes(code)) throw new StoreUnavailable(message, { cause });
    if ([corrupt, notADatabase].includes(code)) throw new UnreadableRecord(message, { cause });
    throw new StoreRejected(message, { cause });
  }
}

const [busy, locked, ioError, corrupt, full, cannotOpen, notADatabase] = [5, 6, 10, 11, 13, 14, 26];
