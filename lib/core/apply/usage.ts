// Tokens and money of paid calls, in all and by day.
import type { At } from "../apply.ts";
import type { Usage } from "../content.ts";
import { addToDay } from "../day-usage.ts";
import type { SessionState } from "../state.ts";

export function addUsage(
  state: SessionState,
  event: { usage: Usage; usdMicros: number; model?: string },
  at: At,
): SessionState {
  const { usage } = state;
  const days = addToDay(state.days ?? [], { ...event, model: event.model ?? "unknown", at: at.at });
  return {
    ...state,
    ...(days.length > 0 ? { days } : {}),
    usage: {
      inputTokens: usage.inputTokens + event.usage.inputTokens,
      outputTokens: usage.outputTokens + event.usage.outputTokens,
      cacheReadTokens: usage.cacheReadTokens + event.usage.cacheReadTokens,
      cacheWriteTokens: usage.cacheWriteTokens + event.usage.cacheWriteTokens,
      usdMicros: usage.usdMicros + event.usdMicros,
    },
  };
}
