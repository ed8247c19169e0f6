// One of several processes on the same file, for sqlite-table.test.ts: `node sqlite-writer.ts FILE NAME COUNT`.
// Puts versions 1 to COUNT if absent and adds 1 to a counter each time; prints the versions that it won.
import { createSqliteTable } from "../../lib/adapters/sqlite-table.ts";

const [file = "", writer = "", count = "0"] = process.argv.slice(2);
const table = createSqliteTable({ file, now: () => 0 });
await table.put({ pk: "acme#count", sk: "COUNT" }, { absent: true });
const won: number[] = [];
for (let version = 1; version <= Number(count); version++) {
  const item = { pk: "acme#s1", sk: `V#${String(version).padStart(12, "0")}`, writer };
  if ((await table.put(item, { absent: true })) === "ok") won.push(version);
  await table.update({ pk: "acme#count", sk: "COUNT" }, { add: { n: 1 } });
}
await table.close();
process.stdout.write(JSON.stringify(won));
