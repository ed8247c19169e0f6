// The rules of a session by its agent. A session whose agent is gone still closes and opens by the defaults.
import { type SessionRules, sessionPolicySchema, sessionRules } from "../core/define-agent.ts";
import type { Deps } from "../steps/deps.ts";

export function rulesOf(deps: Pick<Deps, "agents">, agent: string): SessionRules {
  return deps.agents.get(agent)?.session ?? sessionRules(sessionPolicySchema.parse({}), agent);
}

/** When a session's pointer expires by itself (epoch ms): the idle limit, if the policy has one. */
export function pointerExpiry(rules: Pick<SessionRules, "reset" | "idleAfterMs">, now: number): number | undefined {
  return rules.reset === "idle" || rules.reset === "both" ? now + rules.idleAfterMs : undefined;
}
