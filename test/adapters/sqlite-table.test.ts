// What the contract cannot see: the file, other processes on it, and damage.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSqliteTable } from "../../lib/adapters/sqlite-table.ts";
import { statements } from "../../lib/adapters/sqlite-table-sql.ts";

const key = { pk: "acme#s1", sk: "STATUS" };
const day = 24 * 3600;

describe("the SQLite table", () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "baton-sqlite-"));
    file = join(dir, "new", "baton.db");
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const open = (now = () => 0) => createSqliteTable({ file, now });

  /** Reads or changes the file with plain SQL, as somebody else would. */
  const sql = (text: string) => {
    const database = new DatabaseSync(file);
    try {
      return database
        .prepare(text)
        .all()
        .map((row) => ({ ...row }));
    } finally {
      database.close();
    }
  };

  it("makes its file and finds everything in it again", async () => {
    const first = open();
    await first.put({ ...key, bytes: Uint8Array.of(1), due: 5 });
    await first.close();
    const second = open();
    expect(await second.get(key)).toStrictEqual({ ...key, bytes: Uint8Array.of(1), due: 5 });
    await second.close();
  });

  it("may be closed twice", async () => {
    const table = open();
    await table.close();
    await table.close();
    await expect(table.get(key)).rejects.toThrow();
  });

  it("shows an acknowledged write to every other connection (G1)", async () => {
    const [first, second] = [open(), open()];
    await first.put({ ...key, a: 1 });
    expect(await second.get(key)).toStrictEqual({ ...key, a: 1 });
    expect(await second.put({ ...key, a: 2 }, { absent: true })).toBe("refused");
    await Promise.all([first.close(), second.close()]);
  });

  it("has one winner per version and loses no addition with three processes on one file (G4, H12)", async () => {
    const run = promisify(execFile);
    const script = join(import.meta.dirname, "sqlite-writer.ts");
    const writers = ["a", "b", "c"];
    const outputs = await Promise.all(writers.map((name) => run(process.execPath, [script, file, name, "150"])));
    const won = outputs.map(({ stdout }) => JSON.parse(stdout) as number[]);
    const table = open();
    const items = await table.query({ pk: "acme#s1" });
    const expected = Array.from({ length: 150 }, (_, i) => i + 1);
    expect(won.flat().sort((a, b) => a - b)).toStrictEqual(expected);
    expect(items.map((item) => item.writer)).toStrictEqual(
      expected.map((v) => writers[won.findIndex((w) => w.includes(v))]),
    );
    expect(await table.get({ pk: "acme#count", sk: "COUNT" })).toMatchObject({ n: 450 });
    await table.close();
  });

  it("keeps a log beside the file, so that readers never wait", async () => {
    const table = open();
    expect(sql("PRAGMA journal_mode")).toStrictEqual([{ journal_mode: "wal" }]);
    await table.close();
  });

  it("stores attributes as readable text, bytes in base64", async () => {
    const table = open();
    await table.put({ ...key, text: "漢", n: 1, bytes: Uint8Array.of(255), ttl: 9 });
    await table.close();
    expect(sql("SELECT pk, ttl, body FROM items")).toStrictEqual([
      { pk: "acme#s1", ttl: 9, body: '{"text":"漢","n":1,"bytes":{"bytes":"/w=="}}' },
    ]);
  });

  const plans: [keyof typeof statements, string][] = [
    ["get", "sqlite_autoindex_items_1 (pk=? AND sk=?)"],
    ["ascending", "sqlite_autoindex_items_1 (pk=? AND sk>? AND sk<?)"],
    ["descending", "sqlite_autoindex_items_1 (pk=? AND sk>? AND sk<?)"],
    ["due", "items_due ((due,pk,sk)>(?,?,?) AND due<?)"],
    ["recent", "items_recent (list=? AND list_at>? AND (list_at,pk,sk)<(?,?,?))"],
    ["cleanUp", "items_ttl (ttl<?)"],
  ];
  for (const [name, index] of plans) {
    it(`${name} is one search of an index, without sorting (G14)`, async () => {
      await open().close();
      const steps = sql(`EXPLAIN QUERY PLAN ${statements[name]}`).map((row) => row.detail);
      expect(steps).toStrictEqual([`SEARCH items USING INDEX ${index}`]);
    });
  }

  it("deletes what expired two days ago, and never sooner (H78)", async () => {
    let seconds = 1_800_000_000;
    const now = () => seconds * 1000;
    const table = open(now);
    await table.put({ ...key, ttl: seconds + 10 });
    await table.put({ pk: "acme#s2", sk: "STATUS" });
    await table.close();
    seconds += 10 + 2 * day - 1;
    await open(now).close();
    expect(sql("SELECT count(*) AS n FROM items")).toStrictEqual([{ n: 2 }]);
    seconds += 1;
    await open(now).close();
    expect(sql("SELECT pk FROM items")).toStrictEqual([{ pk: "acme#s2" }]);
  });

  it("cleans up while it runs, not only when it opens", async () => {
    let seconds = 1_800_000_000;
    const table = open(() => seconds * 1000);
    await table.put({ ...key, ttl: seconds });
    seconds += 2 * day;
    for (let i = 0; i < 1000; i++) await table.remove({ pk: "acme#none", sk: "X" });
    expect(sql("SELECT count(*) AS n FROM items")).toStrictEqual([{ n: 0 }]);
    await table.close();
  });

  it("tells a damaged row with its key and leaves it as it is (H05)", async () => {
    const table = open();
    await table.put({ ...key, a: 1 });
    sql(`UPDATE items SET body = '{"a":' WHERE 1`);
    const expected = { name: "UnreadableRecord", message: expect.stringContaining("acme#s1/STATUS") };
    await expect(table.get(key)).rejects.toMatchObject(expected);
    await expect(table.query({ pk: key.pk })).rejects.toMatchObject(expected);
    await expect(table.update(key, { set: { b: 1 } })).rejects.toMatchObject(expected);
    expect(sql("SELECT body FROM items")).toStrictEqual([{ body: '{"a":' }]);
    expect(await table.put({ ...key, sk: "other" })).toBe("ok");
    await table.close();
  });

  it("refuses a row whose values no Table has written (H05)", async () => {
    const table = open();
    for (const body of [
      "[1]",
      "null",
      '"x"',
      '{"a":null}',
      '{"a":[1]}',
      '{"a":{"bytes":1}}',
      '{"a":{"other":"AA=="}}',
    ]) {
      await table.put(key);
      sql(`UPDATE items SET body = '${body}' WHERE 1`);
      await expect(table.get(key), body).rejects.toMatchObject({ name: "UnreadableRecord" });
    }
    await table.close();
  });

  it("tells a file that is no database, and leaves it as it is (H05)", async () => {
    await open().close();
    const text = "this is no database ".repeat(500);
    writeFileSync(file, text);
    expect(() => open()).toThrow(
      expect.objectContaining({ name: "UnreadableRecord", message: expect.stringContaining(file) }),
    );
    expect(readFileSync(file, "utf8")).toBe(text);
  });
});
