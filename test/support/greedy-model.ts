// A model that always uses all it may: as many tokens as were estimated and allowed. What it is paid is counted here, apart
// from the runtime's own books.
import { estimateTokens } from "../../lib/core/estimate.ts";
import { costMicros, type Prices } from "../../lib/core/prices.ts";
import type { Model, ModelRequest } from "../../lib/ports/model.ts";

export type GreedyModel = Model & { requests: ModelRequest[]; charged: { usdMicros: number; tokens: number } };

/** Calls the tool "look" with new arguments each time; `rounds` replies in a turn, then an answer. @default without end */
export function greedyModel(options: { rounds?: number; prices?: Prices } = {}): GreedyModel {
  const requests: ModelRequest[] = [];
  const charged = { usdMicros: 0, tokens: 0 };
  return {
    requests,
    charged,
    async reply(request) {
      const n = requests.push(request);
      const usage = {
        inputTokens: estimateTokens(request),
        outputTokens: request.maxTokens,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
      };
      charged.usdMicros += costMicros(request.model, usage, options.prices);
      charged.tokens += usage.inputTokens + usage.outputTokens;
      const done = n % ((options.rounds ?? Number.POSITIVE_INFINITY) + 1) === 0;
      return done
        ? { model: request.model, content: [{ type: "text", text: "done" }], stop: "end_turn", usage }
        : {
            model: request.model,
            content: [{ type: "call", id: `c${n}`, name: "look", input: { n } }],
            stop: "tool_use",
            usage,
          };
    },
  };
}
