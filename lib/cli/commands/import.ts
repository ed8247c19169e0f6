// baton import: an exported session, into this runtime.
import { readFileSync } from "node:fs";
import type { Imported } from "../../sessions/transfer/import-session.ts";
import type { Run } from "../program.ts";

export const run: Run = async ({ args, output, client }) => {
  const [file = ""] = args;
  const lines = readFileSync(file === "-" ? 0 : file, "utf8");
  const imported = await client.call<Imported>("POST", "/v1/import", { lines });
  if (output.json) output.value(imported);
  else {
    output.line(`session ${imported.sessionId}: ${imported.versions} versions, ${imported.written} written now`);
    for (const { line, message } of imported.problems) output.note(`  line ${line}: ${message}`);
  }
  return 0;
};
