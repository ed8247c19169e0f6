// One model call that costs something: not made while the tenant's limiter is closed or a budget does not allow its worst
// case, and settled by what it really cost. Every call of a step to the model goes through here.
import type { Usage } from "../../core/content.ts";
import {
  BudgetExceeded,
  isDisposition,
  ModelAuthFailed,
  ModelRateLimited,
  ModelRejected,
  toErrorRecord,
} from "../../core/errors.ts";
import { estimateTokens } from "../../core/estimate.ts";
import { retryDelayMs } from "../../core/model-retry.ts";
import { costMicros, defaultPrices, type Prices, priceOf, worstCostMicros } from "../../core/prices.ts";
import type { ModelOptions, ModelReply, ModelRequest, Uncharged } from "../../ports/model.ts";
import { type Amount, nothing, type Reservation } from "../../store/budgets.ts";
import { sha256 } from "../../store/encoding.ts";
import type { Head } from "../../store/log.ts";
import { agentOf, type Deps } from "../deps.ts";
import { budgetScopes } from "./budget-scopes.ts";
import { overBudget, unpriced } from "./over-budget.ts";

export type PaidReply = ModelReply & {
  /** Millionths of a US dollar; 0 when neither the model asked nor the one that answered has a price. */
  usdMicros: number;
};

export type PaidOptions = ModelOptions & {
  /** Sets calls of one round apart: "reply", "summary 1". @default "reply" */
  purpose?: string;
};

/** A function of Lambda ends after 15 minutes; whoever made a call is surely gone after this. */
const callLifetimeMs = 20 * 60_000;
/** Above the estimate, which is a little above the truth already: what it misses must not be spent over a limit. */
const inputMargin = 1.1;
/** Most that waking sessions of a tenant are spread over. */
const maxSpreadMs = 5000;

/**
 * Throws what the model throws; `BudgetExceeded` when a limit does not allow the call (nothing was sent); `ModelRateLimited`
 * with `held` when another session of the tenant was told to wait (nothing was sent either).
 */
export async function paidReply(
  deps: Deps,
  head: Head,
  request: ModelRequest,
  options: PaidOptions = {},
): Promise<PaidReply> {
  const { purpose = "reply", ...how } = options;
  await passLimiter(deps, head, request.model);
  const amount = worstCase(request, deps.prices);
  const reservation = await reserve(deps, head, request.model, amount, purpose);
  let reply: ModelReply;
  try {
    reply = await deps.model.reply(request, how);
  } catch (error) {
    await settle(deps, reservation, isUncharged(error) ? nothing : amount);
    await closeLimiter(deps, head, request.model, error);
    throw error;
  }
  const usdMicros = costOf(request.model, reply, deps.prices);
  await settle(deps, reservation, { usdMicros, tokens: tokensOf(reply.usage) });
  return { ...reply, usdMicros };
}

/** True for a call that was not made because the tenant has to wait: no try of this session. */
export function isHeld(error: unknown): boolean {
  return error instanceof ModelRateLimited && "held" in error && error.held === true;
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

async function reserve(
  deps: Deps,
  head: Head,
  model: string,
  amount: Amount,
  purpose: string,
): Promise<Reservation | null> {
  const { state, tenant, sessionId } = head;
  const agent = agentOf(deps, state.agent);
  const scopes = budgetScopes(deps, head);
  if (scopes.length === 0) return null;
  if (priceOf(model, deps.prices) === undefined && scopes.some((scope) => scope.limit.usdMicros > 0)) {
    throw new BudgetExceeded(unpriced(agent, model));
  }
  const { turn } = state;
  const place = [sessionId, turn?.turn ?? state.turns, turn?.round ?? 0, turn?.retry?.attempt ?? 0, purpose];
  const call = {
    tenant,
    id: JSON.stringify(place),
    nonce: deps.ids.uuid().slice(0, 8),
    amount,
    until: deps.clock.now() + callLifetimeMs,
  };
  const answer = await deps.store.budgets.reserve(call, scopes);
  if ("over" in answer) throw new BudgetExceeded(overBudget(agent, answer.over, amount));
  return answer.reservation;
}

/** A reply that is paid for is never lost over its receipt: without one the worst case stands. */
async function settle(deps: Deps, reservation: Reservation | null, actual: Amount): Promise<void> {
  if (!reservation) return;
  try {
    await deps.store.budgets.settle(reservation, actual);
  } catch (error) {
    const { name } = toErrorRecord(error);
    deps.log.warn("a budget could not be settled; the worst case stands", {
      tenant: reservation.call.tenant,
      error: name,
    });
  }
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

async function passLimiter(deps: Deps, head: Head, model: string): Promise<void> {
  const until = await deps.store.limiters.until(head.tenant, model);
  const waitMs = until - deps.clock.now();
  if (waitMs <= 0) return;
  // Not all at once when it opens.
  const spread = Number.parseInt(sha256(head.sessionId).slice(0, 6), 16) % (Math.min(maxSpreadMs, waitMs / 4) + 1);
  const error = new ModelRateLimited("another session of this tenant was told to wait for the model", {
    retryAfterMs: Math.ceil(waitMs + spread),
  });
  throw Object.assign(error, { held: true });
}

/** A rate limit holds for the whole account, an overload only if the provider says how long. */
async function closeLimiter(deps: Deps, head: Head, model: string, error: unknown): Promise<void> {
  if (!isDisposition(error, "Transient")) return;
  const { name, retryAfterMs } = error as { name: string; retryAfterMs?: number };
  if (name !== ModelRateLimited.kind.name && retryAfterMs === undefined) return;
  const until = deps.clock.now() + retryDelayMs({ attempt: 1, retryAfterMs });
  await deps.store.limiters.block(head.tenant, model, until).catch((failure: unknown) => {
    deps.log.warn("the tenant's limiter could not be closed", { error: toErrorRecord(failure).name });
  });
}
