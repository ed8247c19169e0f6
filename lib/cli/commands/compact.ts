// baton compact: the conversation is summarised before the next model call.
import type { Run } from "../program.ts";

export const run: Run = async ({ args, output, client }) => {
  const session = await client.control(args[0] ?? "", "compact", {});
  if (output.json) output.value(session);
  else output.line(`compaction of session ${session.id} is requested (v${session.version})`);
  return 0;
};
