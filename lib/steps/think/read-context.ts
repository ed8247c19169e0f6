// Reads as much of the log as the agent's strategy needs for one model call, and builds the context from it.
import type { Checkpoint } from "../../core/checkpoint.ts";
import type { BuiltContext, ContextInput, ContextTool } from "../../core/context/build-context.ts";
import { buildContext } from "../../core/context/build-context.ts";
import type { WindowResult } from "../../core/context/create-window.ts";
import { windowFor } from "../../core/context/window-for.ts";
import type { ModelAgent } from "../../core/define-agent.ts";
import type { Event } from "../../core/event.ts";
import type { HandoffRecord } from "../../core/handoff.ts";
import type { OriginSources } from "../../core/origins.ts";
import type { Head } from "../../store/log.ts";
import { offered } from "../built-in/built-in-tools.ts";
import type { Deps } from "../deps.ts";
import { currentHandoff, readHandoff } from "../handoff.ts";
import { turnFacts } from "./turn-facts.ts";

export type ReadContext = BuiltContext & {
  /** What the context was built from. */
  read: WindowResult;
  /** The tools of the request. */
  tools: ContextTool[];
  /** Whose words are in it. */
  sources: OriginSources;
  /** Events since the handoff record that are not shown, and the record brought up to date with their effects. */
  unrecorded?: { events: number; record: HandoffRecord };
};

/** `tools`: all that may be offered. */
export async function readContext(
  deps: Deps,
  head: Head,
  agent: ModelAgent,
  tools: readonly ContextTool[],
): Promise<ReadContext> {
  const { log } = deps.store;
  const { state, tenant, sessionId, version } = head;
  const stored = await readHandoff(deps, head);
  const window = windowFor({ agent, state, tools, ...(stored ? { handoff: stored } : {}) });
  let compaction: Checkpoint | undefined;
  for await (const checkpoint of log.lineage(tenant, sessionId, version)) {
    if (checkpoint.event.type === "compaction.done") compaction ??= checkpoint;
    if (window.add(checkpoint.event, checkpoint.version) === "enough") break;
  }
  const read = window.result();
  const startsAtFirst = isFirst(read.events[0]?.event);
  const mine = offered(tools, { isCut: read.summary !== undefined || !startsAtFirst });
  const [facts, turnStart, atSummary, unrecorded] = await Promise.all([
    turnFacts(deps, head, agent),
    read.turnStartVersion === undefined ? null : log.at(tenant, sessionId, read.turnStartVersion),
    compaction ? readAtSummary(deps, compaction) : undefined,
    startsAtFirst || (read.summary && !read.over) ? undefined : unseenEffects(deps, head, read),
  ]);
  const handoff = unrecorded?.record ?? stored;
  const context = buildContext({
    agent,
    state,
    tools: mine,
    ...read,
    ...(turnStart ? { turnStart } : {}),
    facts,
    ...(handoff ? { handoff } : {}),
    ...atSummary,
  });
  const sources = {
    events: read.events,
    ...(read.summary ? { summary: read.summary } : {}),
    handoff: Boolean(handoff),
    facts,
  };
  return { ...context, read, tools: mine, sources, ...(unrecorded ? { unrecorded } : {}) };
}

/** Is nothing older that says something? */
function isFirst(event: Event | undefined): boolean {
  return event?.type === "session.created" || (event?.type === "turn.started" && event.turn === 1);
}

/** What stood at the summary: it is shown beside it, unchanged, until the next one. */
async function readAtSummary(
  deps: Deps,
  { tenant, sessionId, event, state }: Checkpoint,
): Promise<Pick<ContextInput, "handoffAtSummary" | "turnAtSummary">> {
  const { startedVersion = 0 } = state.turn ?? {};
  const replaced = event.type === "compaction.done" && startedVersion > 0 && startedVersion <= event.to;
  const [handoffAtSummary, turnAtSummary] = await Promise.all([
    readHandoff(deps, { tenant, sessionId, state }),
    replaced ? deps.store.log.at(tenant, sessionId, startedVersion) : null,
  ]);
  return { ...(handoffAtSummary ? { handoffAtSummary } : {}), ...(turnAtSummary ? { turnAtSummary } : {}) };
}

/** What has happened between the record and the first event that is shown: neither would tell of it. */
async function unseenEffects(deps: Deps, head: Head, read: WindowResult): Promise<ReadContext["unrecorded"]> {
  const first = read.events[0]?.version ?? 0;
  const { handoff = 0, journal } = head.state.marks;
  if (handoff >= first) return undefined;
  // Nothing to tell of since the record: without this every call would read the whole session.
  if (journal !== undefined && journal <= handoff) return undefined;
  const { record, stored, behind } = await currentHandoff(deps, head, read.events.length);
  const known = stored ? stored.sideEffects.length + stored.resources.length : 0;
  return record.sideEffects.length + record.resources.length > known ? { events: behind, record } : undefined;
}
