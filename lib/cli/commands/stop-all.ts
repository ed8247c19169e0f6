// baton stop-all: every session of the tenant ends at its next step boundary, and nothing starts until --lift.
import type { Run } from "../program.ts";

export const run: Run = async ({ options, output, client }) => {
  if (options.lift) {
    await client.call("DELETE", "/v1/stop", { text: true });
    if (output.json) output.value({ lifted: true });
    else output.line("the stop is lifted; stopped sessions go on with a message, or with baton resume");
    return 0;
  }
  const body = options.reason === undefined ? {} : { reason: String(options.reason) };
  const stop = await client.call<{ stopped: number; reason: string }>("POST", "/v1/stop", { body });
  if (output.json) output.value(stop);
  else output.line(`stopped ${stop.stopped} sessions; nothing starts until: baton stop-all --lift`);
  return 0;
};
