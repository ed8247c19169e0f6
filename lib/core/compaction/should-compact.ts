// When the history is to be summarised before the next model call. Every reason to wait is named, so that nothing
// loops and nothing is compacted for nothing.
import type { SessionState } from "../state.ts";

export type CompactionCause = "requested" | "overflow" | "threshold" | "resumed" | "model_changed";
export type NoCompaction =
  | "call_open"
  | "small"
  | "nothing_new"
  | "back_off"
  /** System and tools alone are over the threshold: no summary can help (H49). */
  | "fixed_too_large";

export type CompactionQuestion = {
  state: Pick<SessionState, "turn" | "marks">;
  /** Epoch milliseconds. */
  now: number;
  /** Size of the context now (`contextTokens`). */
  contextTokens: number;
  /** `contextBudget` of the model. */
  budgetTokens: number;
  /** System and tools. */
  fixedTokens: number;
  /** Tokens that came since the last compaction; all of them when there was none. */
  newTokens: number;
  /** True when the window or the builder had to leave something out. @default false */
  overflow?: boolean;
  /** The next call is the first after a resume, or goes to another model than the last one. */
  first?: "resumed" | "model_changed";
  /** Share of the budget at which it starts. @default 0.75 */
  threshold?: number;
};

/** Share of the budget from which the first call after a resume or a change of model compacts: its cache is cold. */
const coldThreshold = 0.5;
/** No second compaction before this share of the budget has come anew. */
const minNewShare = 0.1;

export function shouldCompact(
  question: CompactionQuestion,
): { compact: true; cause: CompactionCause } | { compact: false; why: NoCompaction } {
  const { state, budgetTokens, contextTokens, fixedTokens, newTokens, threshold = 0.75 } = question;
  if (state.turn?.calls.some((call) => call.status !== "finished")) return { compact: false, why: "call_open" };
  const cause = causeOf(question, threshold);
  if (!cause) return { compact: false, why: "small" };
  if (newTokens === 0) return { compact: false, why: "nothing_new" };
  if (cause === "requested") return { compact: true, cause };
  if (fixedTokens >= budgetTokens * threshold) return { compact: false, why: "fixed_too_large" };
  if ((state.marks.compactNotBefore ?? 0) > question.now) return { compact: false, why: "back_off" };
  // What does not fit must shrink; everything else waits until it is worth it.
  const worth = newTokens >= budgetTokens * minNewShare;
  if (cause !== "overflow" && contextTokens < budgetTokens && !worth) return { compact: false, why: "nothing_new" };
  return { compact: true, cause };
}

function causeOf(question: CompactionQuestion, threshold: number): CompactionCause | null {
  const share = question.contextTokens / Math.max(1, question.budgetTokens);
  if (question.state.marks.compactRequested !== undefined) return "requested";
  if (question.overflow || share > 1) return "overflow";
  if (share >= threshold) return "threshold";
  return question.first && share >= coldThreshold ? question.first : null;
}
