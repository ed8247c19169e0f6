// Where the provider is asked to cache: computed last, never stored. With the mark at the end of the system prompt
// there are at most four in a request (Anthropic docs, "Prompt caching").
import type { Message } from "../content.ts";

/**
 * Indexes of at most three messages: the end of this request, the end of the one before (the provider looks back
 * only 20 blocks, and a round of parallel calls has more), and the first message, which holds the carried state.
 */
export function cacheMarks(messages: readonly Message[]): number[] {
  const last = messages.length - 1;
  if (last < 0) return [];
  const before = messages.findLastIndex((message, i) => i < last && message.role === "user");
  return [...new Set([0, before, last])].filter((index) => index >= 0).sort((a, b) => a - b);
}
