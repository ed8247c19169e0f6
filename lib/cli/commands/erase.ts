// baton erase: gone for good. Says what would go until --yes is given.
import type { Run } from "../program.ts";

export const run: Run = async ({ args, options, output, client }) => {
  const [id = ""] = args;
  if (options.yes !== true) {
    const { session } = await client.session(id);
    output.error(
      `this would erase session ${session.id} (${session.key}, ${session.version} versions) for good; add --yes to do it`,
    );
    return 2;
  }
  const facts = options.facts === true ? "?facts=erase" : "";
  await client.call<string>("DELETE", `/v1/sessions/${encodeURIComponent(id)}${facts}`, { text: true });
  if (output.json) output.value({ erased: id });
  else output.line(`session ${id} is erased`);
  return 0;
};
