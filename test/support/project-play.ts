// Project mode in the process: a scripted model plays the small project over the real steps, machine and store.
import type { AgentOptions } from "../../lib/core/define-agent.ts";
import type { ReplyLine } from "../../lib/demo-model/script-line.ts";
import type { Model } from "../../lib/ports/model.ts";
import { type Embedded, type EmbedOptions, embed } from "../../lib/testing/embed.ts";
import { type ScriptedModel, scriptedModel } from "../../lib/testing/scripted-model.ts";
import { call, complete, eventsOf, newSite, planOf, projectAgent, type Site } from "./project-agent.ts";

export type Play = { embedded: Embedded; model: ScriptedModel; site: Site };

let open: Embedded[] = [];

/** For afterEach. */
export async function stopAll(): Promise<void> {
  for (const embedded of open) await embedded.stop(0);
  open = [];
}

/** `onAsk`: before the n-th reply. */
export function start(
  lines: readonly ReplyLine[],
  options: {
    agent?: Partial<AgentOptions>;
    embed?: Partial<EmbedOptions>;
    onAsk?: (n: number) => Promise<unknown>;
  } = {},
): Play {
  const site = newSite();
  const model = scriptedModel(lines);
  const asked: Model = {
    reply: async (request, how) => {
      await options.onAsk?.(model.requests.length + 1);
      return model.reply(request, how);
    },
  };
  const embedded = embed({ agents: [projectAgent(site, options.agent)], model: asked, ...options.embed });
  open.push(embedded);
  return { embedded, model, site };
}

/** Sends one message, lets everything run, and answers the log. */
export async function play({ embedded }: Play, text = "make it") {
  const { sessionId } = await embedded.send(text);
  await embedded.idle();
  return { sessionId, events: await eventsOf(embedded, sessionId) };
}

/** A worker's turn for the `turn`-th script line on: ids are those of `scriptedModel`. */
export function built(id: string, firstLine: number): ReplyLine[] {
  return [
    { calls: [call("build", id)] },
    { calls: [call("check", id)] },
    { calls: [call("commit", id)] },
    { calls: [complete(id, `call_${firstLine + 1}_0`)] },
    { text: `${id} is done.` },
  ];
}
export const plan = (...ids: string[]): ReplyLine[] => [{ calls: [planOf(...ids)] }, { text: "Planned." }];

export async function projectOf({ deps }: Embedded, sessionId: string) {
  return (await deps.store.log.head("acme", sessionId))?.state.project;
}
