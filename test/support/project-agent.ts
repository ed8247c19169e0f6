// A small project: tools that build, check and commit in memory, and the lines of a model that plays it well.
import { defineAgent, defineTool } from "baton";
import * as z from "zod";
import type { AgentOptions } from "../../lib/core/define-agent.ts";
import type { Event, EventOf, EventType } from "../../lib/core/event.ts";
import type { ReplyLine, ScriptCall } from "../../lib/demo-model/script-line.ts";
import type { Embedded } from "../../lib/testing/embed.ts";

/** What the outside world remembers, across processes: builds by name, commits by idempotency key. */
export type Site = { built: Map<string, number>; commits: Map<string, string> };
export const newSite = (): Site => ({ built: new Map(), commits: new Map() });

const input = z.object({ name: z.string() });

export function projectAgent(site: Site, options: Partial<AgentOptions> = {}) {
  const build = defineTool({
    name: "build",
    description: "builds something",
    input,
    effect: "idempotent",
    run: ({ name }) => {
      site.built.set(name, (site.built.get(name) ?? 0) + 1);
      return { built: name };
    },
  });
  const check = defineTool({
    name: "check",
    description: "fails for what is not built",
    input,
    effect: "read",
    run: ({ name }) => {
      if (!site.built.has(name)) throw new Error(`${name} is not built`);
      return { works: name };
    },
  });
  const commit = defineTool({
    name: "commit",
    description: "records the work",
    input,
    effect: "idempotent",
    run: ({ name }, ctx) => {
      site.commits.set(ctx.idempotencyKey, name);
      return { committed: name };
    },
  });
  return defineAgent({
    name: "builder",
    instructions: "Build what is asked.",
    model: { id: "m", planner: "m-planner", worker: "m-worker" },
    mode: "project",
    project: { checks: ["check"], commit: "commit", attempts: 2 },
    tools: [build, check, commit],
    ...options,
  });
}

export const feature = (id: string) => ({
  id,
  category: "part",
  description: `${id} works`,
  steps: [`try ${id}`],
  check: "check",
  checkInput: { name: id },
});

export const planOf = (...ids: string[]): ScriptCall => {
  return { name: "plan_features", input: { goal: "a thing", features: ids.map(feature) } };
};
export const call = (name: string, id: string): ScriptCall => ({ name, input: { name: id } });
export const complete = (id: string, callId: string): ScriptCall => ({
  name: "complete_feature",
  input: { id, callId },
});

/** Lines for a planned turn and one for each feature, from the first line of the conversation on (`replayModel`). */
export function wellPlayed(...ids: string[]): ReplyLine[] {
  const lines: ReplyLine[] = [{ calls: [planOf(...ids)] }, { text: "Planned." }];
  for (const id of ids) lines.push(...builtWell(id, lines.length));
  return lines;
}

/** One feature, whose first line stands at `at` in the conversation. */
export function builtWell(id: string, at: number): ReplyLine[] {
  return [
    { calls: [call("build", id)] },
    { calls: [call("check", id)] },
    { calls: [call("commit", id)] },
    { calls: [complete(id, `call_${at + 1}_0`)] },
    { text: `${id} is done.` },
  ];
}

export async function eventsOf({ deps }: Pick<Embedded, "deps">, sessionId: string): Promise<Event[]> {
  return (await deps.store.log.events("acme", sessionId, 0)).map(({ event }) => event);
}

export function ofType<T extends EventType>(events: readonly Event[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

/** One line a turn: what it was for and how it ended. */
export function turnsOf(events: readonly Event[]): string[] {
  const starts = ofType(events, "turn.started");
  const ends = events.filter((event) => event.type === "turn.finished" || event.type === "turn.failed");
  return starts.map(({ turn, project }) => {
    const what = project?.feature ? `${project.role} ${project.feature} ${project.attempt}` : `${project?.role}`;
    return `${what}: ${ends.find((end) => end.turn === turn)?.endReason ?? "open"}`;
  });
}

/** Error results of one tool as the model read them. */
export function refusalsOf(events: readonly Event[], tool: string): string[] {
  const ended = ofType(events, "call.finished").filter((event) => event.tool === tool && event.result.isError);
  const planned = ofType(events, "model.replied").flatMap(({ calls }) => calls.filter((one) => one.tool === tool));
  return [
    ...planned.flatMap(({ refused }) => (refused === undefined ? [] : [refused])),
    ...ended.map(({ result }) => result.content.map((part) => (part.type === "text" ? part.text : "")).join("")),
  ];
}
