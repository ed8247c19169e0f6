// One call of the Messages API that is paid for (paid-call.ts): its worst case, its cost, and the reply with its price.
import type { Usage } from "../../core/content.ts";
import { ModelAuthFailed, ModelRateLimited, ModelRejected } from "../../core/errors.ts";
import { estimateTokens } from "../../core/estimate.ts";
import { costMicros, defaultPrices, type Prices, priceOf, worstCostMicros } from "../../core/prices.ts";
import type { ModelOptions, ModelReply, ModelRequest, Uncharged } from "../../ports/model.ts";
import type { Amount } from "../../store/budgets.ts";
import type { Head } from "../../store/log.ts";
import type { Deps } from "../deps.ts";
import { paidCall } from "./paid-call.ts";

export type PaidReply = ModelReply & {
  /** Millionths of a US dollar; 0 when neither the model asked nor the one that answered has a price. */
  usdMicros: number;
};

export type PaidOptions = ModelOptions & {
  /** Sets calls of one round apart: "reply", "summary 1". @default "reply" */
  purpose?: string;
};

/** Above the estimate, which is a little above the truth already: what it misses must not be spent over a limit. */
const inputMargin = 1.1;

/** Throws what the model and `paidCall` throw. */
export async function paidReply(
  deps: Deps,
  head: Head,
  request: ModelRequest,
  options: PaidOptions = {},
): Promise<PaidReply> {
  const { purpose = "reply", ...how } = options;
  const usdOf = (reply: ModelReply) => costOf(request.model, reply, deps.prices);
  const reply = await paidCall(deps, head, {
    model: request.model,
    purpose,
    worst: worstCase(request, deps.prices),
    make: () => deps.model.reply(request, how),
    costOf: (made) => ({ usdMicros: usdOf(made), tokens: tokensOf(made.usage) }),
    isUncharged,
  });
  return { ...reply, usdMicros: usdOf(reply) };
}

/** The most that a request can cost. `usdMicros` is 0 for a model without price. */
export function worstCase(
  request: Pick<ModelRequest, "model" | "maxTokens" | "system" | "tools" | "messages">,
  prices: Prices = defaultPrices,
): Amount {
  const inputTokens = Math.ceil(estimateTokens(request) * inputMargin);
  const size = { inputTokens, maxTokens: request.maxTokens };
  return { usdMicros: worstCostMicros(request.model, size, prices), tokens: inputTokens + request.maxTokens };
}

/** By the model that was asked when the one that answered has no price. */
function costOf(asked: string, reply: ModelReply, prices?: Prices): number {
  const model = priceOf(reply.model, prices) ? reply.model : asked;
  return costMicros(model, reply.usage, prices);
}

export function tokensOf(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

/** Refused for what the request is, before any work. */
const refusals: readonly string[] = [ModelRateLimited.kind.name, ModelRejected.kind.name, ModelAuthFailed.kind.name];

/** Whether the failed call surely cost nothing. A stream that was cut, or an abort, may have been charged. */
function isUncharged(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return refusals.includes(error.name) || (error as Partial<Uncharged>).uncharged === true;
}
