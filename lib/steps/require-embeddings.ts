// An agent whose memory compares by meaning does not start in a runtime that cannot: it would be worse in silence.
import { InvalidDefinition } from "../core/errors.ts";
import type { Deps } from "./deps.ts";

/** For composition roots. Throws `InvalidDefinition` with the agent's name and what to do. */
export function requireEmbeddings({ agents, embeddings }: Pick<Deps, "agents" | "embeddings">): void {
  if (embeddings) return;
  for (const agent of agents.values()) {
    if (agent.kind !== "agent" || !agent.memory.enabled || agent.memory.similarity !== "embeddings") continue;
    throw new InvalidDefinition(
      `agent "${agent.name}" has memory.similarity "embeddings", and this runtime has none: set BATON_EMBEDDINGS=bedrock, or on AWS ` +
        'give the Agent construct `embeddings`; or set memory.similarity to "lexical"',
    );
  }
}
