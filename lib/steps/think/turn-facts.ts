// What is known about the user, for one turn. The same in every call of the turn, or the cached beginning of its requests
// would be lost: what words choose is the same each time, what embeddings choose is written down once.
import { noUsage, textOf } from "../../core/content.ts";
import type { ShownFact } from "../../core/context/carried-state.ts";
import type { ModelAgent } from "../../core/define-agent.ts";
import { allFit, factBudget, factsAt, fitFacts, showFact } from "../../core/memory/show-facts.ts";
import type { Fact } from "../../core/memory.ts";
import type { Head } from "../../store/log.ts";
import { rankTexts } from "../../store/rank-texts.ts";
import type { Deps } from "../deps.ts";
import { nearestFacts } from "../nearest-facts.ts";
import type { OpenState, Run } from "../run.ts";

type OpenHead = Head & { state: OpenState };

/**
 * Facts of the session's user, while nobody else has written in the turn: another one could ask for them. Empty between
 * turns, and for agents without memory (no read then).
 */
export async function turnFacts(deps: Pick<Deps, "store">, head: Head, agent: ModelAgent): Promise<ShownFact[]> {
  const facts = await standing(deps, head, agent);
  if (facts.length === 0) return [];
  const recalled = await recalledIn(deps, head);
  if (recalled) return facts.filter(({ id }) => recalled.includes(id)).map(showFact);
  const asked = await askedIn(deps, head);
  const texts = facts.map(({ text }) => text);
  const nearest = () => [...rankTexts(texts, asked), ...newestFirst(facts.length)];
  return fitFacts(facts, factBudget(agent.model), nearest).map(showFact);
}

/**
 * Writes down which facts the turn is shown, when embeddings have to choose: before its first model call, once. Answers
 * the head afterwards. Throws what the store throws; nothing that is wrong with the embeddings.
 */
export async function recallFacts(run: Run, head: OpenHead, agent: ModelAgent): Promise<OpenHead> {
  const { deps } = run;
  const { turn, recalled } = head.state.turn;
  const { similarity } = agent.memory;
  if (similarity !== "embeddings" || recalled !== undefined) return head;
  const facts = await standing(deps, head, agent);
  const maxTokens = factBudget(agent.model);
  if (allFit(facts, maxTokens)) return head;
  const query = await askedIn(deps, head);
  if (query === "") return head;
  const { order, paid, fallback } = await nearestFacts(deps, head, { facts, query, similarity, purpose: "recall" });
  const shown = fitFacts(facts, maxTokens, () => order).map(({ id }) => id);
  const cost = paid ?? { usage: noUsage, usdMicros: 0 };
  const after = await run.commitOwned(({ state }) => {
    const stale = state.turn.turn !== turn || state.turn.recalled !== undefined;
    if (stale) return null;
    return { type: "memory.recalled", turn, shown, ...cost, ...(fallback === undefined ? {} : { fallback }) };
  }, head);
  return after as OpenHead;
}

/** As they stood when the turn began, oldest first. */
async function standing(deps: Pick<Deps, "store">, { state }: Head, agent: ModelAgent): Promise<Fact[]> {
  const { tenant, turn, user } = state;
  if (!agent.memory.enabled || !turn || turn.impersonal) return [];
  return factsAt(await deps.store.facts.list({ tenant, user }), turn.startedAt);
}

async function recalledIn({ store }: Pick<Deps, "store">, head: Head): Promise<string[] | undefined> {
  const { recalled } = head.state.turn ?? {};
  if (recalled === undefined) return undefined;
  const found = await store.log.at(head.tenant, head.sessionId, recalled);
  return found?.event.type === "memory.recalled" ? found.event.shown : undefined;
}

/** The text of the message that began the turn. */
async function askedIn({ store }: Pick<Deps, "store">, { tenant, sessionId, state }: Head): Promise<string> {
  const started = await store.log.at(tenant, sessionId, state.turn?.startedVersion ?? 0);
  const messages = started?.event.type === "turn.started" ? started.event.messages : [];
  return messages
    .map((message) => textOf(message.content))
    .join("\n")
    .trim();
}

/** What no word of the question fits: the newest, while there is room. */
function newestFirst(count: number): number[] {
  return Array.from({ length: count }, (_, index) => count - 1 - index);
}
