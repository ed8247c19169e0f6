// baton fork: a new session whose past is another one up to a version.

import { printable } from "../output.ts";
import type { Run } from "../program.ts";
import { readVersion } from "../read-version.ts";

export const run: Run = async ({ args, output, client }) => {
  const [id = "", version = ""] = args;
  const session = await client.control(id, "fork", { version: readVersion(version) });
  if (output.json) output.value(session);
  else output.line(`session ${session.id} branches off; go on with: baton chat --key '${printable(session.key)}'`);
  return 0;
};
