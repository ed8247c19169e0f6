// Reads as much of the log as the agent's strategy needs for one model call, and builds the context from it.
import type { BuiltContext, ContextTool } from "../../core/context/build-context.ts";
import { buildContext } from "../../core/context/build-context.ts";
import type { LoggedEvent } from "../../core/context/logged-event.ts";
import { windowFor } from "../../core/context/window-for.ts";
import type { ModelAgent } from "../../core/define-agent.ts";
import type { HandoffRecord } from "../../core/handoff.ts";
import type { Head } from "../../store/log.ts";
import type { Deps } from "../deps.ts";

export type ReadContext = BuiltContext & {
  /** In order: what the context was built from. */ events: readonly LoggedEvent[];
};

export async function readContext(
  deps: Deps,
  head: Head,
  agent: ModelAgent,
  tools: readonly ContextTool[],
): Promise<ReadContext> {
  const { log } = deps.store;
  const { state, tenant, sessionId, version } = head;
  const handoff = state.marks.handoff ? await readHandoff(deps, head, state.marks.handoff) : undefined;
  const window = windowFor({ agent, state, tools, ...(handoff ? { handoff } : {}) });
  for await (const checkpoint of log.lineage(tenant, sessionId, version)) {
    if (window.add(checkpoint.event, checkpoint.version) === "enough") break;
  }
  const read = window.result();
  const turnStart = read.turnStartVersion === undefined ? null : await log.at(tenant, sessionId, read.turnStartVersion);
  const context = buildContext({
    agent,
    state,
    tools,
    ...read,
    ...(turnStart ? { turnStart } : {}),
    ...(handoff ? { handoff } : {}),
  });
  return { ...context, events: read.events };
}

async function readHandoff(deps: Deps, head: Head, version: number): Promise<HandoffRecord | undefined> {
  const found = await deps.store.log.at(head.tenant, head.sessionId, version);
  if (found?.event.type === "handoff.updated") return found.event.record;
  return found?.event.type === "session.created" ? found.event.handoff : undefined;
}
