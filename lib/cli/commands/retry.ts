// baton retry: back to before the step that failed, and on from there.
import type { Run } from "../program.ts";

export const run: Run = async ({ args, output, client }) => {
  const session = await client.control(args[0] ?? "", "retry", {});
  if (output.json) output.value(session);
  else output.line(`turn ${session.turn} of session ${session.id} goes on from before the step that failed`);
  return 0;
};
