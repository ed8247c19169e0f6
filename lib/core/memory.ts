// Long-term memory: what remains of a user's sessions. A fact is a thing that the user said, in the user's own words, with
// its source and the time for which it holds. Pure; where facts stand is the store's business.
import * as z from "zod";
import type { InboxMessage } from "./event.ts";

/** preference: how the user wants things; profile: about the user; context: about the user's work and world. */
export const factKinds = ["preference", "profile", "context"] as const;
export type FactKind = (typeof factKinds)[number];

export type Fact = {
  /** 20 characters of [0-9a-f]. */
  id: string;
  text: string;
  kind: FactKind;
  /** Where it was said. */
  source: { sessionId: string; turn: number };
  origin: "user" | "agent" | "tool";
  /** Epoch milliseconds: when it was said. */
  validFrom: number;
  /** When something else was said instead; absent while it holds. */
  validTo?: number;
  /** When it was written here, and when its end was. What a turn sees goes by these. */
  storedAt: number;
  closedAt?: number;
  /** The fact that took its place. */
  replacedBy?: string;
  /** When the user corrected its text. */
  correctedAt?: number;
  /** Counts corrections, from 1: what was decided about another text is void. */
  revision: number;
  /** The direction of its text, by one model of embeddings; absent until it is needed, and after a correction. */
  vector?: FactVector;
};

/** `packed`: see lib/store/fact-vector.ts. It tells about the text, so it is kept and deleted with it, and never shown outside. */
export type FactVector = { model: string; packed: string };

export const factIdPattern = /^[0-9a-f]{20}$/;

/** Longest text of a fact, in characters. */
export const maxFactChars = 500;

export type MemoryOptions = {
  /** Learn from this agent's sessions, and show it what was learnt. @default false */
  enabled: boolean;
  /** Facts that hold at a time, for one user; beyond that the oldest ends. @default 200 */
  maxFacts?: number;
  /** Model that finds facts in what the user said. @default the summarizer */
  model?: string;
  /**
   * How the facts are found that are nearest to what the user says, when not all of them fit: by their words, or by
   * meaning too. "embeddings" needs a runtime that has them: BATON_EMBEDDINGS, or `embeddings` of the Agent construct.
   * @default "lexical"
   */
  similarity?: "lexical" | "embeddings";
};

export const memorySchema = z.strictObject({
  enabled: z.boolean().default(false),
  maxFacts: z.int().min(1).max(1000).default(200),
  model: z.string().min(1).optional(),
  similarity: z.enum(["lexical", "embeddings"]).default("lexical"),
});

export type MemoryRules = {
  enabled: boolean;
  maxFacts: number;
  model: string;
  similarity: "lexical" | "embeddings";
};

/**
 * Did the session's user write all of them in person? What a task or somebody else says in a session is no statement of
 * its user, and must not be answered with what is known about that user.
 */
export function isPersonal(state: { user: string }, messages: readonly Pick<InboxMessage, "from">[]): boolean {
  return messages.every(({ from }) => from.via !== "task" && from.user === state.user);
}
