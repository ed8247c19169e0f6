// baton reset: the session is closed, its open turn with it, and its key goes to a clean one.
import type { Run } from "../program.ts";

export const run: Run = async ({ args, output, client }) => {
  const [id = ""] = args;
  const session = await client.control(id, "reset", {});
  if (output.json) output.value(session);
  else output.line(`session ${id} is closed; ${session.id} takes over`);
  return 0;
};
