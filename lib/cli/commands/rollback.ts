// baton rollback: the session goes on from an earlier version; what came later stays in its log.

import type { Run } from "../program.ts";
import { readVersion } from "../read-version.ts";

export const run: Run = async ({ args, output, client }) => {
  const [id = "", version = ""] = args;
  const session = await client.control(id, "rollback", { version: readVersion(version) });
  if (output.json) output.value(session);
  else output.line(`session ${session.id} goes on from version ${version} (v${session.version})`);
  return 0;
};
