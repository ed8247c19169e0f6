// What is known about the user, for one turn. The same in every call of the turn, or the cached beginning of its requests
// would be lost.
import { textOf } from "../../core/content.ts";
import type { ShownFact } from "../../core/context/carried-state.ts";
import type { ModelAgent } from "../../core/define-agent.ts";
import { factBudget, factsAt, fitFacts } from "../../core/memory/show-facts.ts";
import type { Head } from "../../store/log.ts";
import { rankTexts } from "../../store/rank-texts.ts";
import type { Deps } from "../deps.ts";

/**
 * Facts of the session's user, while nobody else has written in the turn: another one could ask for them. Empty between
 * turns, and for agents without memory (no read then).
 */
export async function turnFacts(deps: Pick<Deps, "store">, head: Head, agent: ModelAgent): Promise<ShownFact[]> {
  const { tenant, sessionId, state } = head;
  const { turn, user } = state;
  if (!agent.memory.enabled || !turn || turn.impersonal) return [];
  const facts = factsAt(await deps.store.facts.list({ tenant, user }), turn.startedAt);
  if (facts.length === 0) return [];
  const started = await deps.store.log.at(tenant, sessionId, turn.startedVersion);
  const messages = started?.event.type === "turn.started" ? started.event.messages : [];
  const asked = messages.map((message) => textOf(message.content)).join("\n");
  const texts = facts.map(({ text }) => text);
  return fitFacts(facts, factBudget(agent.model), () => [...rankTexts(texts, asked), ...newestFirst(facts.length)]);
}

/** What no word of the question fits: the newest, while there is room. */
function newestFirst(count: number): number[] {
  return Array.from({ length: count }, (_, index) => count - 1 - index);
}
