// baton facts: what is remembered about you. list | edit ID TEXT | delete ID.
import type { FactView } from "../../memory/user-facts.ts";
import type { Page } from "../../sessions/events.ts";
import { WrongUse } from "../cli-errors.ts";
import { type Output, oneLine } from "../output.ts";
import type { Invocation, Run } from "../program.ts";

type Action = (given: { id: string; text: string }, invocation: Invocation) => Promise<void>;

const actions: Record<string, Action> = {
  list: async (_given, { client, output, options }) => {
    const query = queryOf(options, options.all === true ? { include: "all" } : {});
    const page = await client.call<Page<FactView>>("GET", `/v1/facts${query}`);
    if (output.json) output.value(page);
    else if (page.items.length === 0) output.line("no facts");
    else for (const fact of page.items) output.line(line(fact, output));
  },
  edit: async ({ id, text }, { client, output, options }) => {
    if (text.trim() === "") throw new WrongUse("baton facts edit <id> <text>: what should it say?");
    const fact = await client.call<FactView>("PATCH", at(id, options), { body: { text } });
    if (output.json) output.value(fact);
    else output.line(line(fact, output));
  },
  delete: async ({ id }, { client, output, options }) => {
    await client.call<string>("DELETE", at(id, options), { text: true });
    if (output.json) output.value({ deleted: id });
    else output.line(`fact ${id} is deleted`);
  },
};

export const run: Run = async (invocation) => {
  const [action = "list", id = "", text = ""] = invocation.args;
  const act = Object.hasOwn(actions, action || "list") ? actions[action || "list"] : undefined;
  if (!act) throw new WrongUse(`baton facts ${action}: use one of ${Object.keys(actions).join(", ")}`);
  if (act !== actions.list && id === "") throw new WrongUse(`baton facts ${action} <id>: which fact?`);
  await act({ id, text }, invocation);
  return 0;
};

function at(id: string, options: Invocation["options"]): string {
  return `/v1/facts/${encodeURIComponent(id)}${queryOf(options)}`;
}

function queryOf({ user }: Invocation["options"], more: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...(user === undefined ? {} : { user: String(user) }), ...more }).toString();
  return query === "" ? "" : `?${query}`;
}

function line(fact: FactView, { paint }: Output): string {
  const until = fact.validTo === undefined ? "" : ` until ${fact.validTo}`;
  const source = `${fact.source.sessionId} turn ${fact.source.turn}`;
  return [
    fact.id,
    fact.kind.padEnd(10),
    oneLine(fact.text, 200),
    paint.dim(`since ${fact.validFrom}${until}`),
    paint.dim(source),
  ].join("  ");
}
