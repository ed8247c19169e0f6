// Asks the model what in a turn is a lasting fact, and decides what will be written. Writes nothing itself.
import { noUsage } from "../core/content.ts";
import type { EventOf } from "../core/event.ts";
import { extractionRequest, readExtraction } from "../core/memory/extraction.ts";
import { planFacts } from "../core/memory/plan-facts.ts";
import type { Fact } from "../core/memory.ts";
import { type PaidReply, paidReply } from "../steps/budget/paid-reply.ts";
import type { Deps } from "../steps/deps.ts";
import { withinTime } from "../steps/within-time.ts";
import { sha256 } from "../store/encoding.ts";
import type { Decided } from "../store/lessons.ts";
import { rankTexts } from "../store/rank-texts.ts";
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
  const shown = nearest(valid, texts.join("\n"));
  const { model, maxFacts } = agent.memory;
  const request = { model, ...extractionRequest(texts, shown), tools: [] };
  const reply = await withinTime(deps, { timeoutMs: callTimeoutMs, who: "the model of long-term memory" }, (signal) =>
    paidReply(deps, head, request, { signal, purpose: `memory ${at.turn}` }),
  );
  const found = readExtraction(reply);
  if ("invalid" in found) {
    const { sessionId, turn } = at;
    deps.log.warn("long-term memory: the model's answer is of no use", { tenant, sessionId, turn });
    return { add: [], close: [], event: { ...nothingLearnt(at, "invalid_answer"), ...costOf(reply) } };
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
  return { add, close, event: { type: "memory.updated", turn: at.turn, ...ids, refused, ...costOf(reply) } };
}

/** An event that costs nothing; `why` is a code. */
export function nothingLearnt({ turn }: TurnPlace, why: string): EventOf<"memory.updated"> {
  return { type: "memory.updated", turn, added: [], closed: [], refused: [why], usage: noUsage, usdMicros: 0 };
}

function costOf({ model, usage, usdMicros }: PaidReply) {
  return { model, usage, usdMicros };
}

function nearest(valid: readonly Fact[], query: string): Fact[] {
  if (valid.length <= maxShown) return [...valid];
  const best = new Set(
    rankTexts(
      valid.map(({ text }) => text),
      query,
    ).slice(0, maxShown),
  );
  return valid.filter((_, index) => best.has(index));
}
