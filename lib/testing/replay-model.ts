// A model that answers by where the conversation stands, not by how often it was asked: the n-th line for the
// n-th reply of the conversation. What a crash makes it answer twice is the same twice.

import type { StopReason } from "../core/content.ts";
import type { ReplyLine } from "../demo-model/script-line.ts";
import type { Model } from "../ports/model.ts";

/** Lines without faults: a fault belongs to a moment, not to a place in the conversation. */
export function replayModel(lines: readonly ReplyLine[]): Model & { asked: number } {
  const model: Model & { asked: number } = {
    asked: 0,
    async reply(request, options) {
      model.asked++;
      const place = request.messages.filter((message) => message.role === "assistant").length;
      const line = lines[place];
      if (!line) throw new Error(`the script has ${lines.length} lines; the conversation asks for line ${place + 1}`);
      if (line.text) options?.onText?.(line.text);
      const calls = (line.calls ?? []).map((call, i) => ({
        type: "call" as const,
        id: call.id ?? `call_${place}_${i}`,
        name: call.name,
        input: call.input ?? {},
      }));
      const usual: StopReason = calls.length > 0 ? "tool_use" : "end_turn";
      return {
        model: request.model,
        content: [...(line.text ? [{ type: "text" as const, text: line.text }] : []), ...calls],
        stop: (line.stop as StopReason | undefined) ?? usual,
        usage: { inputTokens: 100 + place, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 },
      };
    },
  };
  return model;
}
