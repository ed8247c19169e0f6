// The window of an agent's next model call: the strategy's numbers in one place.
import type { ModelAgent } from "../define-agent.ts";
import { contextBudget, estimateTokens } from "../estimate.ts";
import type { HandoffRecord } from "../handoff.ts";
import type { SessionState } from "../state.ts";
import { type ContextTool, hasOpenWork, resultLimit, systemPrompt } from "./build-context.ts";
import { type ContextWindow, createWindow } from "./create-window.ts";

export type WindowForOptions = {
  agent: Pick<ModelAgent, "instructions" | "constraints" | "model" | "context" | "windowTokens">;
  state: Pick<SessionState, "turn">;
  /** All tools of the request, built-in ones too. */
  tools: readonly ContextTool[];
  /** The current handoff record. */
  handoff?: HandoffRecord;
  /** Tokens kept free for facts and notices. @default 0 */
  reservedTokens?: number;
};

export function windowFor({ agent, state, tools, handoff, reservedTokens = 0 }: WindowForOptions): ContextWindow {
  const fixed = estimateTokens({ system: systemPrompt(agent), tools, messages: [] });
  const record = handoff ? estimateTokens(JSON.stringify(handoff)) : 0;
  return createWindow({
    strategy: agent.context,
    budgetTokens: Math.max(0, contextBudget(agent.model) - fixed - record - reservedTokens),
    windowTokens: agent.windowTokens,
    maxResultTokens: resultLimit(agent, agent.context),
    openWork: hasOpenWork(handoff),
    ...(state.turn ? { openTurnVersion: state.turn.startedVersion } : {}),
  });
}
