// The SQL of the SQLite table, as data, so that a test can ask SQLite how it would run each statement.

export const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS items (
    pk TEXT NOT NULL, sk TEXT NOT NULL, ttl INTEGER, due INTEGER, list TEXT, list_at TEXT, body TEXT NOT NULL,
    PRIMARY KEY (pk, sk)
  );
  CREATE INDEX IF NOT EXISTS items_due ON items (due, pk, sk) WHERE due IS NOT NULL;
  CREATE INDEX IF NOT EXISTS items_recent ON items (list, list_at, pk, sk) WHERE list IS NOT NULL AND list_at IS NOT NULL;
  CREATE INDEX IF NOT EXISTS items_ttl ON items (ttl) WHERE ttl IS NOT NULL;
`;

const columns = "pk, sk, ttl, due, list, list_at, body";
const replace = `INSERT INTO items (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (pk, sk) DO UPDATE SET
  ttl = excluded.ttl, due = excluded.due, list = excluded.list, list_at = excluded.list_at, body = excluded.body`;
const live = "(ttl IS NULL OR ttl > ?)";
// The bounds are compared as UTF-8 bytes; the upper one may end in a byte that no text has.
const range = `SELECT ${columns} FROM items WHERE pk = ? AND sk >= CAST(? AS TEXT) AND sk < CAST(? AS TEXT) AND ${live}`;

export const statements = {
  put: replace,
  /** One statement, so one implicit transaction: an expired item may be replaced, a live one not. */
  putIfAbsent: `${replace} WHERE items.ttl <= ?`,
  get: `SELECT ${columns} FROM items WHERE pk = ? AND sk = ?`,
  remove: "DELETE FROM items WHERE pk = ? AND sk = ?",
  ascending: `${range} ORDER BY sk LIMIT ?`,
  descending: `${range} ORDER BY sk DESC LIMIT ?`,
  due: `SELECT ${columns} FROM items WHERE due IS NOT NULL AND due <= ? AND ${live} AND (due, pk, sk) > (?, ?, ?)
    ORDER BY due, pk, sk LIMIT ?`,
  recent: `SELECT ${columns} FROM items WHERE list = ? AND list_at IS NOT NULL AND ${live}
    AND (list_at, pk, sk) < (CAST(? AS TEXT), ?, ?) ORDER BY list_at DESC, pk DESC, sk DESC LIMIT ?`,
  cleanUp: "DELETE FROM items WHERE ttl <= ?",
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  rollback: "ROLLBACK",
};
