// Loads the agents that BATON_AGENT names. What is wrong is said with the path and the mend.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Agent } from "../core/define-flow.ts";
import { InvalidDefinition } from "../core/errors.ts";

/** `paths`: module paths separated by commas, relative to `cwd`. The first agent is the default. */
export async function loadAgents(paths: string, cwd: string): Promise<Map<string, Agent>> {
  const agents = new Map<string, Agent>();
  for (const path of paths.split(",").map((part) => part.trim())) {
    if (path === "") continue;
    const agent = await loadAgent(resolve(cwd, path), path);
    if (agents.has(agent.name)) throw new InvalidDefinition(`${path}: a second agent is named "${agent.name}"`);
    agents.set(agent.name, agent);
  }
  if (agents.size === 0) throw new InvalidDefinition("BATON_AGENT names no module; set it to the path of an agent.ts");
  return agents;
}

async function loadAgent(file: string, path: string): Promise<Agent> {
  let loaded: { default?: unknown };
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidDefinition(`${path}: the module cannot be loaded: ${message}`, { cause });
  }
  const agent = loaded.default as Agent | undefined;
  if (agent?.kind !== "agent" && agent?.kind !== "flow") {
    throw new InvalidDefinition(`${path}: export default defineAgent({…}) or defineFlow({…})`);
  }
  return agent;
}
