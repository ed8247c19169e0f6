// Whether the history must be summarised before the next model call: asked by think before the call and by compact
// before the work, over the same context, so that both say the same.
import { shouldCompact } from "../../core/compaction/should-compact.ts";
import { isIssuer } from "../../core/context/messages-from-events.ts";
import type { ModelAgent } from "../../core/define-agent.ts";
import { contextBudget, contextTokens, estimateEvent } from "../../core/estimate.ts";
import type { Head } from "../../store/log.ts";
import type { ReadContext } from "./read-context.ts";

export type CompactionNeed = ReturnType<typeof shouldCompact>;

/** Of their own accord only `auto` and `compaction` summarise; on request every strategy does. */
export function compactionNeed(
  head: Pick<Head, "state">,
  agent: Pick<ModelAgent, "context" | "model">,
  context: Pick<ReadContext, "read" | "problems" | "estimatedTokens" | "fixedTokens">,
  now: number,
): CompactionNeed {
  const { state } = head;
  const requested = state.marks.compactRequested !== undefined;
  const automatic = agent.context === "auto" || agent.context === "compaction";
  if (!requested && !automatic) return { compact: false, why: "small" };
  const first = automatic ? firstCall(agent, context.read.events) : undefined;
  return shouldCompact({
    state,
    now,
    contextTokens: sizeOf(state, context),
    budgetTokens: contextBudget(agent.model),
    fixedTokens: context.fixedTokens,
    newTokens: newTokens(context.read.events),
    overflow: context.problems.some(({ kind }) => kind === "shortened" || kind === "too_large"),
    ...(first ? { first } : {}),
  });
}

type Events = ReadContext["read"]["events"];

/** Over this many times the last real size, the last call has seen another window than the next one will. */
const otherWindow = 1.5;

/** The last real usage and what came since; the plain estimate where that call cannot be compared with the next. */
function sizeOf(state: Head["state"], context: Pick<ReadContext, "read" | "estimatedTokens" | "fixedTokens">): number {
  const { read, estimatedTokens, fixedTokens } = context;
  const cut = read.over || read.strategy === "checkpoint" || read.strategy === "sliding-window";
  if (cut || state.context.tokens === 0) return estimatedTokens;
  const real = contextTokens(state, read.events, fixedTokens);
  return estimatedTokens > real * otherWindow ? estimatedTokens : real;
}

function newTokens(events: Events): number {
  const summary = events.findLastIndex(({ event }) => event.type === "compaction.done");
  return events.slice(summary + 1).reduce((sum, { event }) => sum + estimateEvent(event), 0);
}

/** After a fault or for another model the provider has nothing cached, so a long context is paid in full. */
function firstCall(agent: Pick<ModelAgent, "model">, events: Events): "resumed" | "model_changed" | undefined {
  const at = events.findLastIndex(({ event }) => event.type === "model.replied");
  const last = events[at]?.event;
  if (last?.type !== "model.replied") return undefined;
  if (!isIssuer(last.model, agent.model.id)) return "model_changed";
  const planned = ["due", "decision", "requested"];
  const resumed = events
    .slice(at)
    .some(({ event }) => event.type === "session.resumed" && !planned.includes(event.cause));
  return resumed ? "resumed" : undefined;
}
