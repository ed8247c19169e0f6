// Layer 2 of the context: what is known from before, as quoted data with its origin, in front of the first message.
import { entryKey } from "../compaction/entry-key.ts";
import type { SummaryRecord } from "../compaction/summary-record.ts";
import { estimateTokens } from "../estimate.ts";
import type { HandoffRecord } from "../handoff.ts";
import { renderHandoff } from "../render-handoff.ts";
import { fence, note } from "./fence.ts";
import { happenedTitle, lines } from "./messages-from-events.ts";
import { stubText } from "./stub-result.ts";

/** One long-term memory, as it is shown. `source` is where it was said, e.g. "session 20260505_… turn 3". */
export type ShownFact = { text: string; origin: "user" | "agent" | "tool"; source?: string };

export type CarriedState = {
  summary?: SummaryRecord;
  handoff?: HandoffRecord;
  /** Constraints known before the messages that follow. */
  constraints: readonly string[];
  facts?: readonly ShownFact[];
  /** Things the runtime has to tell: `text` may quote others, so it is data. */
  notices?: readonly { kind: string; text: string }[];
  language: string;
  /** Longest list of side effects and resources, in tokens; the oldest are counted instead of listed. */
  maxListTokens: number;
};

/** Text blocks in a fixed order, empty when there is nothing to carry. Constraints come first, word for word. */
export function renderCarried(state: CarriedState): string[] {
  const { summary, handoff, facts = [], notices = [], maxListTokens } = state;
  const parts: string[] = [];
  if (state.constraints.length > 0) {
    parts.push(fence("standing constraints given by the user, word for word", lines(state.constraints)));
  }
  if (summary) parts.push(...renderSummary(summary, maxListTokens));
  if (handoff) {
    // What stands above already is not said twice.
    const short = { ...shortened(rest(handoff, summary), maxListTokens), constraints: [] };
    parts.push(fence("handoff record: state of the work", renderHandoff(short, state.language)));
  }
  if (facts.length > 0) parts.push(fence("long-term memory about the user", facts.map(renderFact).join("\n")));
  for (const { kind, text } of notices) parts.push(fence(`notice (${kind})`, text));
  return parts;
}

function renderSummary(summary: SummaryRecord, maxListTokens: number): string[] {
  const { turns, carried } = summary;
  const which = turns.to > 0 ? `turns ${turns.from} to ${turns.to}` : "the conversation before";
  const parts = [
    note(
      `The conversation before this point (${which}) is replaced by a summary. It goes on below; do not start over.`,
    ),
    fence(`summary of ${which}, written by a model`, summary.narrative),
  ];
  if (summary.latestUser) parts.push(fence("last message of the user before this point, verbatim", summary.latestUser));
  if (carried.decisions.length > 0) {
    const made = carried.decisions.map(({ what, why, atTurn }) => `turn ${atTurn}: ${what}${why ? ` (${why})` : ""}`);
    parts.push(fence("decisions", newest(made, maxListTokens).join("\n")));
  }
  if (carried.sideEffects.length > 0) {
    const done = carried.sideEffects.map(
      ({ action, target, atTurn, status }) => `turn ${atTurn}: ${action} ${target} (${status})`,
    );
    parts.push(fence(happenedTitle, newest(done, maxListTokens).join("\n")));
  }
  if (carried.resources.length > 0) {
    parts.push(fence("resources", newest(carried.resources, maxListTokens).join("\n")));
  }
  return parts;
}

function renderFact(fact: ShownFact): string {
  const source = fact.source ? `, ${fact.source}` : "";
  return `${fact.text} (from the ${fact.origin}${source})`;
}

/** The newest entries that fit; what is left out is counted, and stays in the log. */
function newest(entries: readonly string[], maxTokens: number): string[] {
  let left = maxTokens;
  let from = entries.length;
  while (from > 0) {
    left -= estimateTokens(entries[from - 1] ?? "") + 1;
    if (left < 0) break;
    from--;
  }
  if (from === 0) return [...entries];
  if (from === entries.length) return [stubText(entries.join("\n"), { maxTokens })];
  return [`(${from} earlier ones are left out here; they are in the log)`, ...entries.slice(from)];
}

/** The record without what the summary has carried over. */
function rest(record: HandoffRecord, summary: SummaryRecord | undefined): HandoffRecord {
  if (!summary) return record;
  const { decisions, sideEffects, resources } = summary.carried;
  const known = new Set([...decisions, ...sideEffects, ...resources].map(entryKey));
  const isNew = (entry: unknown) => !known.has(entryKey(entry));
  return {
    ...record,
    decisions: record.decisions.filter(isNew),
    sideEffects: record.sideEffects.filter(isNew),
    resources: record.resources.filter(isNew),
  };
}

function shortened(record: HandoffRecord, maxTokens: number): HandoffRecord {
  const size = estimateTokens(JSON.stringify([record.sideEffects, record.resources, record.done]));
  if (size <= maxTokens) return record;
  const share = (count: number) => Math.max(1, Math.floor((count * maxTokens) / size));
  return {
    ...record,
    done: record.done.slice(-share(record.done.length)),
    sideEffects: record.sideEffects.slice(-share(record.sideEffects.length)),
    resources: record.resources.slice(-share(record.resources.length)),
  };
}
