// What does not fit any more when the agent is another than the one that a turn was begun with: what the log expects,
// and what this release has. Only the error's name crosses the state machine, so it is found out again.
import type { Head } from "../store/log.ts";
import { agentOf, type Deps } from "./deps.ts";

/** For people; null when nothing is found that does not fit. */
export async function changedAgent(deps: Pick<Deps, "agents" | "store">, head: Head): Promise<string | null> {
  const { agent: name, turn } = head.state;
  const agent = deps.agents.get(name);
  if (!agent) return missing(deps, name);
  if (!turn?.flow) return null;
  if (agent.kind !== "flow") return `the turn is one of the flow "${name}"; "${name}" is an agent with tools now`;
  const { index, stateVersion } = turn.flow;
  const found = stateVersion > 0 ? await deps.store.log.at(head.tenant, head.sessionId, stateVersion) : null;
  const last = found?.event.type === "flow.advanced" ? `, after "${found.event.name}"` : "";
  const steps = agent.steps.map((step) => step.name).join(", ");
  return `the turn stands at step ${index + 1}${last}; flow "${name}" has the steps ${steps} now`;
}

function missing(deps: Pick<Deps, "agents">, name: string): string | null {
  try {
    agentOf(deps, name);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : null;
  }
}
