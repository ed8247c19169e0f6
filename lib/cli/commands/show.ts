// baton show: a session's tree.

import type { Run } from "../program.ts";
import { renderTree } from "../render-tree.ts";

export const run: Run = async ({ args, output, client }) => {
  const tree = await client.session(args[0] ?? "");
  if (output.json) output.value(tree);
  else for (const line of renderTree(tree, output.paint)) output.line(line);
  return 0;
};
