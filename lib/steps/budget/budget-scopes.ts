// Which budgets a model call counts in. A tenant's or user's day is one budget for all agents of the runtime: if one of
// them limits it, the others count in it without being held by it. Where nobody limits anything, nothing is written.
import type { Agent } from "../../core/define-flow.ts";
import type { Limits } from "../../core/limits.ts";
import { microsOf } from "../../core/money.ts";
import { utcDay, utcDayNumber } from "../../core/utc-day.ts";
import type { Scope } from "../../store/budgets.ts";
import type { Head } from "../../store/log.ts";
import { agentOf, type Deps } from "../deps.ts";

export const sessionScope = "session:";
export const userScope = "user:";
export const tenantScope = "tenant:";

/** In the order in which they are reserved; empty when no limit stands. */
export function budgetScopes(deps: Pick<Deps, "agents" | "clock">, head: Head): Scope[] {
  const { state } = head;
  const { limits } = agentOf(deps, state.agent);
  const all = [...deps.agents.values()];
  const day = utcDay(utcDayNumber(deps.clock.now()));
  const scopes: Scope[] = [];
  if (limits.usdPerSession > 0 || limits.tokensPerSession > 0) {
    const { usdMicros, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = state.usage;
    scopes.push({
      name: `${sessionScope}${state.sessionId}`,
      limit: { usdMicros: microsOf(limits.usdPerSession), tokens: limits.tokensPerSession },
      // The session may be older than its limit.
      seed: { usdMicros, tokens: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens },
    });
  }
  if (anyLimits(all, ["usdPerUserDay"])) {
    scopes.push({
      name: `${userScope}${day}:${state.user}`,
      limit: { usdMicros: microsOf(limits.usdPerUserDay), tokens: 0 },
    });
  }
  if (anyLimits(all, ["usdPerTenantDay", "tokensPerTenantDay"])) {
    scopes.push({
      name: `${tenantScope}${day}`,
      limit: { usdMicros: microsOf(limits.usdPerTenantDay), tokens: limits.tokensPerTenantDay },
    });
  }
  return scopes;
}

function anyLimits(agents: readonly Agent[], names: (keyof Limits)[]): boolean {
  return agents.some((agent) => names.some((name) => agent.limits[name] > 0));
}
