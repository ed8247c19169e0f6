// Before a message is accepted: is there any budget left that a turn could use? So that a client is told at once (402), not by
// a turn that ends without a word of the model.
import { BudgetExceeded } from "../../core/errors.ts";
import { priceOf } from "../../core/prices.ts";
import type { Head } from "../../store/log.ts";
import { agentOf, type Deps } from "../deps.ts";
import { budgetScopes } from "./budget-scopes.ts";
import { overBudget, unpriced } from "./over-budget.ts";
import { worstCase } from "./paid-reply.ts";

/**
 * Throws `BudgetExceeded` when not even the agent's smallest call fits what is spent already. What is reserved does not count
 * here: it may come back. Reads one item for each limit that the agent has.
 */
export async function requireBudget(
  deps: Pick<Deps, "agents" | "clock" | "store" | "prices">,
  head: Head,
): Promise<void> {
  const scopes = budgetScopes(deps, head).filter(({ limit }) => limit.usdMicros > 0 || limit.tokens > 0);
  const agent = agentOf(deps, head.state.agent);
  if (scopes.length === 0 || agent.model.id === "") return;
  const { id: model, maxTokens } = agent.model;
  if (priceOf(model, deps.prices) === undefined && scopes.some(({ limit }) => limit.usdMicros > 0)) {
    throw new BudgetExceeded(unpriced(agent, model));
  }
  const system = [{ text: agent.instructions }];
  const tools = agent.kind === "agent" ? [...agent.tools] : [];
  const next = worstCase({ model, maxTokens, system, tools, messages: [] }, deps.prices);
  for (const { name, limit, seed } of scopes) {
    const balance = await deps.store.budgets.balance(head.tenant, name);
    const spent = seed && balance.spent.tokens === 0 && balance.reserved.tokens === 0 ? seed : balance.spent;
    for (const unit of ["usdMicros", "tokens"] as const) {
      if (limit[unit] === 0 || spent[unit] + next[unit] <= limit[unit]) continue;
      const reserved = { usdMicros: 0, tokens: 0 };
      throw new BudgetExceeded(overBudget(agent, { scope: name, unit, limit: limit[unit], spent, reserved }, next));
    }
  }
}
