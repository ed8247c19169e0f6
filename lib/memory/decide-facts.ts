// Asks the model what in a turn is a lasting fact, and decides what will be written. Writes nothing itself.
import { noUsage } from "../core/content.ts";
import type { EventOf } from "../core/event.ts";
import { extractionRequest, readExtraction } from "../core/memory/extraction.ts";
import type { PaidEmbeddings } from "../core/memory/memory-event.ts";
import { planFacts } from "../core/memory/plan-facts.ts";
import type { Fact } from "../core/memory.ts";
import { paidEmbedding } from "../steps/budget/paid-embedding.ts";
import { type PaidReply, paidReply } from "../steps/budget/paid-reply.ts";
import type { Deps } from "../steps/deps.ts";
import { embeddingTimeoutMs, fallbackCode, nearestFacts } from "../steps/nearest-facts.ts";
import { withinTime } from "../steps/within-time.ts";
import { sha256 } from "../store/encoding.ts";
import { packVector } from "../store/fact-vector.ts";
import type { Decided } from "../store/lessons.ts";
import type { Said, TurnPlace } from "./read-said.ts";

const callTimeoutMs = 60_000;
/** Facts that the model is shown, to say which of them end. */
const maxShown = 30;

/** Throws what the model does, `ModelUnavailable` after a minute, `BudgetExceeded`. */
export async function decideFacts(deps: Deps, at: TurnPlace, said: Said): Promise<Decided> {
  const { head, agent, sentences } = said;
  const { tenant, user } = head.state;
  const texts = sentences.map(({ text }) => text);
  const valid = (await deps.store.facts.list({ tenant, user }))
    .filter(({ validTo }) => validTo === undefined)
    .toSorted((a, b) => a.validFrom - b.validFrom || (a.id < b.id ? -1 : 1));
  const { model, maxFacts, similarity } = agent.memory;
  const asked = { facts: valid, query: texts.join("\n"), similarity, purpose: `memory ${at.turn} nearest` };
  const nearest = valid.length > maxShown ? await nearestFacts(deps, head, asked) : undefined;
  const best = new Set(nearest?.order.slice(0, maxShown));
  const shown = nearest ? valid.filter((_, index) => best.has(index)) : valid;
  const request = { model, ...extractionRequest(texts, shown), tools: [] };
  const reply = await withinTime(deps, { timeoutMs: callTimeoutMs, who: "the model of long-term memory" }, (signal) =>
    paidReply(deps, head, request, { signal, purpose: `memory ${at.turn}` }),
  );
  const found = readExtraction(reply);
  if ("invalid" in found) {
    const { sessionId, turn } = at;
    deps.log.warn("long-term memory: the model's answer is of no use", { tenant, sessionId, turn });
    return { add: [], close: [], event: { ...nothingLearnt(at, "invalid_answer"), ...costOf(reply, [nearest?.paid]) } };
  }
  const { add, close, refused } = planFacts(found, {
    sentences,
    shown,
    valid,
    source: { sessionId: at.sessionId, turn: at.turn },
    saidAt: said.at,
    maxFacts,
    idOf: (n) => sha256(`${at.sessionId}\n${at.turn}\n${n}`).slice(0, 20),
  });
  const ids = { added: add.map(({ id }) => id), closed: close.map(({ id }) => id) };
  const { facts, paid } = await withVectors(deps, said, at, add);
  const cost = costOf(reply, [nearest?.paid, paid]);
  return { add: facts, close, event: { type: "memory.updated", turn: at.turn, ...ids, refused, ...cost } };
}

/** New facts with the direction of their texts, where the agent compares by meaning; without it a later turn makes it. */
async function withVectors(
  deps: Deps,
  { head, agent }: Said,
  { turn }: TurnPlace,
  facts: Fact[],
): Promise<{ facts: Fact[]; paid?: PaidEmbeddings }> {
  if (agent.memory.similarity !== "embeddings" || facts.length === 0) return { facts };
  const texts = facts.map(({ text }) => text);
  const purpose = `memory ${turn} vectors`;
  const limit = { timeoutMs: embeddingTimeoutMs, who: "the model of embeddings" };
  try {
    const made = await withinTime(deps, limit, (signal) => paidEmbedding(deps, head, texts, { signal, purpose }));
    const { vectors, ...paid } = made;
    return { facts: facts.map((fact, i) => ({ ...fact, vector: packVector(paid.model, vectors[i] ?? []) })), paid };
  } catch (error) {
    fallbackCode(deps, head, error);
    return { facts };
  }
}

/** An event that costs nothing; `why` is a code. */
export function nothingLearnt({ turn }: TurnPlace, why: string): EventOf<"memory.updated"> {
  return { type: "memory.updated", turn, added: [], closed: [], refused: [why], usage: noUsage, usdMicros: 0 };
}

function costOf({ model, usage, usdMicros }: PaidReply, paid: (PaidEmbeddings | undefined)[]) {
  const [first, ...more] = paid.filter((one) => one !== undefined);
  return { model, usage, usdMicros, ...(first ? { embeddings: more.reduce(sum, first) } : {}) };
}

function sum(a: PaidEmbeddings, b: PaidEmbeddings): PaidEmbeddings {
  const inputTokens = a.usage.inputTokens + b.usage.inputTokens;
  return { model: a.model, usage: { ...a.usage, inputTokens }, usdMicros: a.usdMicros + b.usdMicros };
}
