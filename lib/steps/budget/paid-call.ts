// A call that costs something, of whatever model: not made while the tenant's limiter is closed or a budget does not allow its
// worst case, and settled by what it really cost. Every call of a step to a model goes through here.
import { BudgetExceeded, isDisposition, ModelRateLimited, toErrorRecord } from "../../core/errors.ts";
import { retryDelayMs } from "../../core/model-retry.ts";
import { priceOf } from "../../core/prices.ts";
import { type Amount, nothing, type Reservation } from "../../store/budgets.ts";
import { sha256 } from "../../store/encoding.ts";
import type { Head } from "../../store/log.ts";
import { agentOf, type Deps } from "../deps.ts";
import { budgetScopes } from "./budget-scopes.ts";
import { overBudget, unpriced } from "./over-budget.ts";

export type PaidCall<T> = {
  model: string;
  /** Sets calls of one round apart: "reply", "summary 1". */
  purpose: string;
  /** The most that it can cost. */
  worst: Amount;
  make: () => Promise<T>;
  costOf: (answer: T) => Amount;
  /** Whether the failed call surely cost nothing. */
  isUncharged: (error: unknown) => boolean;
};

/** A function of Lambda ends after 15 minutes; whoever made a call is surely gone after this. */
const callLifetimeMs = 20 * 60_000;
/** Most that waking sessions of a tenant are spread over. */
const maxSpreadMs = 5000;

/**
 * Throws what `make` throws; `BudgetExceeded` when a limit does not allow the call (nothing was sent); `ModelRateLimited`
 * with `held` when another session of the tenant was told to wait (nothing was sent either).
 */
export async function paidCall<T>(deps: Deps, head: Head, call: PaidCall<T>): Promise<T> {
  await passLimiter(deps, head, call.model);
  const reservation = await reserve(deps, head, call.model, call.worst, call.purpose);
  let answer: T;
  try {
    answer = await call.make();
  } catch (error) {
    await settle(deps, reservation, call.isUncharged(error) ? nothing : call.worst);
    await closeLimiter(deps, head, call.model, error);
    throw error;
  }
  await settle(deps, reservation, call.costOf(answer));
  return answer;
}

/** True for a call that was not made because the tenant has to wait: no try of this session. */
export function isHeld(error: unknown): boolean {
  return error instanceof ModelRateLimited && "held" in error && error.held === true;
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

/** An answer that is paid for is never lost over its receipt: without one the worst case stands. */
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
