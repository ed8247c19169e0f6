// baton dev: the embedded runtime, as `npm start` runs it. Its settings are the environment; options win over it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Run } from "../program.ts";

export const run: Run = async ({ options, output }) => {
  const { startSupervisor } = await import("../../local/supervisor.ts");
  const env = {
    ...process.env,
    ...(options.port === undefined ? {} : { PORT: String(options.port) }),
    ...(options.data === undefined ? {} : { BATON_DATA: String(options.data) }),
    ...(options.agent === undefined ? {} : { BATON_AGENT: String(options.agent) }),
  };
  if (!output.json) return startSupervisor({ env });
  let ready = false;
  const print = (text: string) => {
    output.value(
      ready ? { message: text.trim() } : JSON.parse(readFileSync(join(env.BATON_DATA || ".baton", "dev.json"), "utf8")),
    );
    ready = true;
  };
  return startSupervisor({ env, print });
};
