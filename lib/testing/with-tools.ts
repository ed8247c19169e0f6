// The same agent with other bodies behind its tools: how tests count, delay and kill what an agent does.
import type { Agent } from "../core/define-flow.ts";
import type { Tool } from "../core/define-tool.ts";

/** The agent with each tool replaced by what `change` makes of it, steps of a flow included. */
export function withTools(agent: Agent, change: (tool: Tool) => Tool): Agent {
  if (agent.kind === "agent") return { ...agent, tools: agent.tools.map(change) };
  const steps = agent.steps.map((step) => (step.kind === "tool" ? { ...step, tool: change(step.tool) } : step));
  return { ...agent, steps, tools: agent.tools.map(change) };
}
