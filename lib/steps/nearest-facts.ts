// Which facts are nearest to a text: by their words, and by meaning where the agent's memory asks for it. Embeddings only
// ever improve the order: whatever is wrong with them is said, and words alone choose.

import { toErrorRecord } from "../core/errors.ts";
import type { PaidEmbeddings } from "../core/memory/memory-event.ts";
import { byAngle, byTurns } from "../core/memory/nearness.ts";
import type { Fact, FactVector, MemoryRules } from "../core/memory.ts";
import { packVector, unpackVector } from "../store/fact-vector.ts";
import type { Head } from "../store/log.ts";
import { rankTexts } from "../store/rank-texts.ts";
import { paidEmbedding } from "./budget/paid-embedding.ts";
import type { Deps } from "./deps.ts";
import { withinTime } from "./within-time.ts";

export type Nearest = {
  /** Indexes of all the facts, the nearest first. */
  order: number[];
  /** What the embeddings cost; absent when none were made. */
  paid?: PaidEmbeddings;
  /** Code of what was wrong with them: words alone have chosen. */
  fallback?: string;
};

export type NearestOptions = {
  /** Of the session's user, oldest first. */
  facts: readonly Fact[];
  /** What they are compared with. */
  query: string;
  similarity: MemoryRules["similarity"];
  /** Of the call that is paid for. */
  purpose: string;
};

/** People wait for the answer behind it. */
export const embeddingTimeoutMs = 10_000;
/** Facts without a direction that one call may add: the newest; the others get theirs in later turns. */
const maxNewVectors = 50;
/** A longer text counts by its beginning and its end. */
const maxQueryChars = 4000;

/** Throws what the store throws, and when the process must stop. */
export async function nearestFacts(deps: Deps, head: Head, options: NearestOptions): Promise<Nearest> {
  const { facts, query, similarity } = options;
  const newestFirst = facts.map((_, index) => facts.length - 1 - index);
  const byWords = rankTexts(
    facts.map(({ text }) => text),
    query,
  );
  const words = [...new Set([...byWords, ...newestFirst])];
  if (similarity !== "embeddings" || query.trim() === "") return { order: words };
  try {
    const { angles, paid } = await orderByMeaning(deps, head, options);
    return { order: [...new Set([...byTurns(angles, byWords), ...newestFirst])], paid };
  } catch (error) {
    return { order: words, fallback: fallbackCode(deps, head, error) };
  }
}

/** The code for the record and the log; throws the error when it is none of the embeddings'. */
export function fallbackCode(deps: Deps, { tenant, sessionId }: Head, error: unknown): string {
  const { code } = toErrorRecord(error);
  if (deps.stopping.aborted || !mild.test(code)) throw error;
  deps.log.warn("long-term memory: no embeddings; facts are compared by their words", { tenant, sessionId, code });
  return code;
}

/** Of the model, of a budget, or of whatever is behind the port: not of the store, which is waited for as everywhere. */
const mild = /^(?:model\.|budget\.|unexpected$)/;

async function orderByMeaning(
  deps: Deps,
  head: Head,
  { facts, query, purpose }: NearestOptions,
): Promise<{ angles: number[]; paid: PaidEmbeddings }> {
  const model = deps.embeddings?.model ?? "";
  const unknown = facts.filter(({ vector }) => vector?.model !== model).slice(-maxNewVectors);
  const texts = [excerpt(query), ...unknown.map(({ text }) => text)];
  const { vectors, ...paid } = await withinTime(
    deps,
    { timeoutMs: embeddingTimeoutMs, who: "the model of embeddings" },
    (signal) => paidEmbedding(deps, head, texts, { signal, purpose }),
  );
  const [asked = [], ...made] = vectors;
  const fresh = new Map(unknown.map((fact, index) => [fact, packVector(model, made[index] ?? [])]));
  await keep(deps, head, fresh);
  const known = facts.map((fact) => fresh.get(fact) ?? (fact.vector?.model === model ? fact.vector : undefined));
  const angles = byAngle(
    asked,
    known.map((vector) => vector && unpackVector(vector)),
  );
  return { angles, paid };
}

/** So that each is paid for once. What cannot be kept now is made again. */
async function keep(deps: Deps, { state }: Head, fresh: ReadonlyMap<Fact, FactVector>): Promise<void> {
  const { tenant, sessionId, user } = state;
  const kept = [...fresh].map(([{ id, revision }, vector]) =>
    deps.store.facts.keepVector({ tenant, user }, { id, revision, vector }),
  );
  const failed = (await Promise.allSettled(kept)).filter(({ status }) => status === "rejected").length;
  if (failed > 0) deps.log.warn("long-term memory: vectors could not be kept", { tenant, sessionId, failed });
}

function excerpt(text: string): string {
  if (text.length <= maxQueryChars) return text;
  const half = maxQueryChars / 2;
  return `${text.slice(0, half)}\n${text.slice(-half)}`.toWellFormed();
}
