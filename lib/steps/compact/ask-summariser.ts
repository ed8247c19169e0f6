// The calls of the summariser: one part after the other, each under a time limit, so that one that hangs costs a
// refusal and not the session (H48).
import type { SummaryPlan } from "../../core/compaction/summary-request.ts";
import { type AssistantContent, type StopReason, textOf } from "../../core/content.ts";
import type { ModelAgent } from "../../core/define-agent.ts";
import type { Head } from "../../store/log.ts";
import { type PaidReply, paidReply } from "../budget/paid-reply.ts";
import type { Deps } from "../deps.ts";
import { withinTime } from "../within-time.ts";

export type SummaryAnswer = { content: readonly AssistantContent[]; stop: StopReason };

/** One part; all of them. The state may last 15 minutes. */
const partTimeoutMs = 3 * 60_000;
const totalTimeoutMs = 12 * 60_000;

/** The answer to the last part, or the first one that is no summary. Throws what the model does, and `ModelUnavailable`. */
export async function askSummariser(
  deps: Deps,
  agent: Pick<ModelAgent, "model">,
  plan: SummaryPlan,
  options: { head: Head; soFar?: string | undefined; spend: (reply: PaidReply) => void },
): Promise<SummaryAnswer> {
  const startedAt = deps.clock.now();
  let soFar = options.soFar ?? "";
  let answer: SummaryAnswer = { content: [], stop: "other" };
  for (let part = 0; part < plan.parts; part++) {
    const left = startedAt + totalTimeoutMs - deps.clock.now();
    const { system, messages, maxTokens } = plan.request(part, soFar);
    const request = { model: agent.model.summarizer, system, messages, maxTokens, tools: [] };
    const ask = (signal: AbortSignal) => paidReply(deps, options.head, request, { signal, purpose: `summary ${part}` });
    const limit = { timeoutMs: Math.min(partTimeoutMs, left), who: "the summariser" };
    const reply = await withinTime(deps, limit, ask);
    options.spend(reply);
    answer = reply;
    soFar = textOf(reply.content);
    if (reply.stop !== "end_turn" || soFar === "") return answer;
  }
  return answer;
}
