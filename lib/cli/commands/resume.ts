// baton resume: a suspended or interrupted session goes on.
import type { Run } from "../program.ts";

export const run: Run = async ({ args, output, client }) => {
  const session = await client.control(args[0] ?? "", "resume", {});
  if (output.json) output.value(session);
  else output.line(`session ${session.id} goes on: ${session.status} (v${session.version})`);
  return 0;
};
