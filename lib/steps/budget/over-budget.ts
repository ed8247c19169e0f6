// What a person reads when a budget ends the work: which limit, how much is used, and what to do.
import type { Agent } from "../../core/define-flow.ts";
import { dollars } from "../../core/money.ts";
import type { Amount, Over } from "../../store/budgets.ts";
import { sessionScope, userScope } from "./budget-scopes.ts";

/** `next`: the worst case of the call that was not made. */
export function overBudget(agent: Pick<Agent, "name">, over: Over, next: Amount): string {
  const { option, whose, mend } = limitOf(over);
  const say = over.unit === "usdMicros" ? dollars : (tokens: number) => `${tokens} tokens`;
  const held = over.reserved[over.unit] > 0 ? ` and ${say(over.reserved[over.unit])} held by calls under way` : "";
  return (
    `limits.${option} of agent "${agent.name}" allows ${say(over.limit)} for ${whose}; ${say(over.spent[over.unit])} used${held}, ` +
    `and the next model call may cost up to ${say(next[over.unit])}. To go on, raise limits.${option}, or ${mend}.`
  );
}

export function unpriced(agent: Pick<Agent, "name">, model: string): string {
  return (
    `agent "${agent.name}" has a limit in US dollars, and model "${model}" has no price, so the limit cannot be kept. ` +
    "Add its price (BATON_PRICES), or limit tokens instead (tokensPerSession, tokensPerTenantDay)."
  );
}

function limitOf({ scope, unit }: Over): { option: string; whose: string; mend: string } {
  const usd = unit === "usdMicros";
  if (scope.startsWith(sessionScope)) {
    const mend = "start a new session (/new)";
    return { option: usd ? "usdPerSession" : "tokensPerSession", whose: "one session", mend };
  }
  const mend = "wait for the next day, which begins at 00:00 UTC";
  if (scope.startsWith(userScope)) return { option: "usdPerUserDay", whose: "one user and day", mend };
  return { option: usd ? "usdPerTenantDay" : "tokensPerTenantDay", whose: "the tenant and day", mend };
}
