// The outcome of a call as the model reads it.
import type { ResultBlock } from "../../core/content.ts";
import type { CallOutcome } from "../../core/event.ts";
import { canonical } from "../../store/encoding.ts";

export function callResult(callId: string, outcome: CallOutcome): ResultBlock {
  if (outcome.status === "success") {
    const text = typeof outcome.output === "string" ? outcome.output : canonical(outcome.output);
    return {
      type: "result",
      callId,
      content: [{ type: "text", text: text === "" ? "(empty)" : text }],
      isError: false,
    };
  }
  const text =
    outcome.status === "in_doubt" ? `Outcome unknown, verify first: ${outcome.error.message}` : outcome.error.message;
  return { type: "result", callId, content: [{ type: "text", text }], isError: true };
}
