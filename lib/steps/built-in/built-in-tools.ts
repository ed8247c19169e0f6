// The tools that the runtime itself offers to a model, beside those of the agent's author.
import type { ModelAgent } from "../../core/define-agent.ts";
import type { Agent } from "../../core/define-flow.ts";
import type { Tool } from "../../core/define-tool.ts";
import type { Head } from "../../store/log.ts";
import type { Run } from "../run.ts";
import { projectTools } from "./project-tools.ts";
import { recallTool } from "./recall.ts";
import { updateProgressTool } from "./update-progress.ts";

/** Every tool that a call of this session may name, the author's first. */
export function toolsOf(run: Run, head: Head, agent: Agent): Tool[] {
  if (agent.kind === "flow") return [...agent.tools];
  const progress = keepsRecord(agent) ? [updateProgressTool(run)] : [];
  return [...agent.tools, ...progress, ...projectTools(run, head, agent), recallTool(run, head)];
}

/**
 * Those of `tools` that are shown to the model. recall only where something is not shown: asking for what stands in
 * front of it wastes a round. It comes with the cut that changes the messages anyway, and stays: the cached beginning is
 * lost once.
 */
export function offered<T extends { name: string }>(tools: readonly T[], context: { isCut: boolean }): T[] {
  return context.isCut ? [...tools] : tools.filter((tool) => tool.name !== "recall");
}

/** Does the strategy show the handoff record? Without that nobody should be asked to keep one. */
function keepsRecord(agent: Pick<ModelAgent, "context">): boolean {
  return agent.context === "auto" || agent.context === "checkpoint" || agent.context === "compaction";
}
