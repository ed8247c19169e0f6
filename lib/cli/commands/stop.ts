// baton stop: the session is suspended at the next step boundary; the next message starts a clean one.
import type { Run } from "../program.ts";

export const run: Run = async ({ args, options, output, client }) => {
  const [id = ""] = args;
  const body = options.reason === undefined ? {} : { reason: String(options.reason) };
  const session = await client.control(id, "stop", body);
  if (output.json) output.value(session);
  else if (session.status === "suspended") output.line(`session ${session.id} is suspended (v${session.version})`);
  else output.line(`stop requested (v${session.version}); it ends at the next step boundary`);
  return 0;
};
