// A summary is only taken when nothing is lost by it. Everything else is refused with its reason, and the session
// stays as it is (G13, H50).
import { type AssistantContent, type StopReason, textOf } from "../content.ts";
import { renderCarried } from "../context/carried-state.ts";
import type { LoggedEvent } from "../context/logged-event.ts";
import { roundStarts } from "../context/round-starts.ts";
import { estimateTokens } from "../estimate.ts";
import type { Cut } from "./choose-cut.ts";
import type { CarriedRecords, SummaryRecord } from "./summary-record.ts";

export type SummaryRefusal =
  | "stop_reason"
  | "blank"
  | "copy"
  | "not_smaller"
  | "instruction_missing"
  | "constraint_missing"
  | "pairs_split";

export type SummaryContext = {
  cut: Pick<Cut, "replaced" | "kept" | "replacedTokens">;
  carried: CarriedRecords;
  /** Constraints that must be in `carried`: those of the current handoff record. */
  constraints: readonly string[];
  /** What `latestUserMessage` gives for the cut. */
  latestUser: string;
  /** First version of the open turn, whose message the context builder shows anyway. */
  openTurnVersion?: number;
};

export type SummaryVerdict =
  | { ok: true; record: SummaryRecord; tokens: number }
  | { ok: false; reason: SummaryRefusal; message: string };

export function validateSummary(
  reply: { content: readonly AssistantContent[]; stop: StopReason },
  context: SummaryContext,
): SummaryVerdict {
  const { cut, carried } = context;
  const refuse = (reason: SummaryRefusal, message: string): SummaryVerdict => ({ ok: false, reason, message });
  if (reply.stop !== "end_turn") return refuse("stop_reason", `the summary ended with ${reply.stop}`);
  const narrative = textOf(reply.content);
  if (!/[\p{L}\p{N}]/u.test(narrative)) return refuse("blank", "the summary holds no text");
  if (isCopy(narrative, cut.replaced) || isCopy(narrative, cut.kept)) {
    return refuse("copy", "the summary repeats an answer of the conversation");
  }
  const lost = context.constraints.filter((text) => !carried.constraints.includes(text));
  if (lost.length > 0) return refuse("constraint_missing", `${lost.length} constraints would be lost`);
  if (!pairsIntact(cut.replaced, cut.kept)) return refuse("pairs_split", "a call would be parted from its result");
  const needed = latestUserMessage(cut, context.openTurnVersion);
  if (!context.latestUser.includes(needed)) {
    return refuse("instruction_missing", "the newest message of the user would be lost");
  }
  const { latestUser } = context;
  const record: SummaryRecord = { format: 1, narrative, carried, latestUser, turns: turnsOf(cut.replaced) };
  const parts = renderCarried({
    summary: record,
    constraints: carried.constraints,
    language: "en",
    maxListTokens: Number.POSITIVE_INFINITY,
  });
  const tokens = parts.reduce((sum, part) => sum + estimateTokens(part), 0);
  if (tokens >= cut.replacedTokens) {
    return refuse("not_smaller", `the summary has about ${tokens} tokens and replaces ${cut.replacedTokens}`);
  }
  return { ok: true, record, tokens };
}

/**
 * The newest message of the user, verbatim, when a cut would hide it; "" when it is among the kept events or is the
 * open turn's own message, which is always shown. Pictures are not carried over.
 */
export function latestUserMessage(cut: SummaryContext["cut"], openTurnVersion?: number): string {
  const isUser = ({ event }: LoggedEvent) => event.type === "turn.started" || event.type === "turn.steered";
  if (cut.kept.some(isUser)) return "";
  const last = cut.replaced.findLast(isUser);
  if (!last || last.version === openTurnVersion) return "";
  const { event } = last;
  const messages = event.type === "turn.started" || event.type === "turn.steered" ? event.messages : [];
  return messages.map((message) => textOf(message.content)).join("\n\n");
}

/** Equal to an answer of the history but for white space, or hardly more than one. */
function isCopy(narrative: string, events: readonly LoggedEvent[]): boolean {
  const plain = (text: string) => text.replace(/\s+/g, " ").trim();
  const written = plain(narrative);
  return events.some(({ event }) => {
    if (event.type !== "model.replied") return false;
    const answer = plain(textOf(event.content));
    return (
      answer !== "" &&
      (answer === written || (answer.length > 200 && written.length < answer.length * 1.1 && written.includes(answer)))
    );
  });
}

function pairsIntact(replaced: readonly LoggedEvent[], kept: readonly LoggedEvent[]): boolean {
  if (roundStarts(replaced).callOpen) return false;
  const first = kept.find(({ event }) => event.type === "call.finished" || event.type === "model.replied");
  return first?.event.type !== "call.finished";
}

function turnsOf(events: readonly LoggedEvent[]): { from: number; to: number } {
  const turns = events.flatMap(({ event }) => (event.type === "turn.started" ? [event.turn] : []));
  return { from: turns[0] ?? 0, to: turns.at(-1) ?? 0 };
}
