// Whether a session between turns has a project that starts its next turn by itself: asked by everyone who may start one.
import { goesOn } from "../../core/project.ts";
import type { Head } from "../../store/log.ts";
import type { Deps } from "../deps.ts";

/** False too when this deployment's agent is in no project (any more). */
export function projectGoesOn(deps: Pick<Deps, "agents">, { state }: Pick<Head, "state">): boolean {
  const agent = deps.agents.get(state.agent);
  return agent?.kind === "agent" && agent.project !== undefined && goesOn(state);
}
