// The outcome of a call as the model reads it.
import type { ResultBlock, TextBlock } from "../../core/content.ts";
import type { CallOutcome } from "../../core/event.ts";
import { canonical } from "../../store/encoding.ts";

/** `note`: said before the result, for a call that people had a part in. */
export function callResult(callId: string, outcome: CallOutcome, note: string | null = null): ResultBlock {
  const before: TextBlock[] = note === null ? [] : [{ type: "text", text: note }];
  if (outcome.status === "success") {
    const text = typeof outcome.output === "string" ? outcome.output : canonical(outcome.output);
    return {
      type: "result",
      callId,
      content: [...before, { type: "text", text: text === "" ? "(empty)" : text }],
      isError: false,
    };
  }
  const text =
    outcome.status === "in_doubt" ? `Outcome unknown, verify first: ${outcome.error.message}` : outcome.error.message;
  return { type: "result", callId, content: [...before, { type: "text", text }], isError: true };
}
