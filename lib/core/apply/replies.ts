// What the model's replies, and a flow's plan, do to the open turn.
import type { At } from "../apply.ts";
import { BudgetExceeded } from "../errors.ts";
import type { EventOf } from "../event.ts";
import type { SessionState, TurnState } from "../state.ts";
import { callState } from "./calls.ts";
import { openTurn, without, withTurn } from "./open-turn.ts";
import { addUsage } from "./usage.ts";

export function modelReplied(state: SessionState, event: EventOf<"model.replied">, at: At): SessionState {
  const turn = openTurn(state);
  const total = event.usage.inputTokens + event.usage.cacheReadTokens + event.usage.cacheWriteTokens;
  const cut = event.stop === "max_tokens" || event.stop === "pause_turn" ? event.stop : null;
  const calls = event.calls.map(callState);
  const next: TurnState = {
    ...without(without(without(turn, "retry"), "repetition"), "cut"),
    round: event.round,
    ...segmentAfterRound(turn, event.calls.length),
    replyVersion: at.version,
    calls,
    continuations: cut ? (turn.cut === event.stop ? turn.continuations : 0) + 1 : 0,
    phase: calls.some((call) => call.status !== "finished") ? "act" : "think",
    ...(event.repetition ? { repetition: event.repetition } : {}),
    ...(cut ? { cut } : {}),
  };
  const complete = event.stop === "end_turn" || event.stop === "stop_sequence";
  // A reply that was refused, or ended in a way that nobody knows, asks for nothing: its calls never run.
  const asks = calls.length > 0 && event.stop !== "refusal" && event.stop !== "other";
  const goesOn = cut !== null || asks || (turn.flow !== undefined && complete);
  return {
    ...addUsage(state, event, at),
    context: total > 0 ? { tokens: total + event.usage.outputTokens, version: at.version } : state.context,
    recoveries: 0,
    turn: goesOn ? next : { ...next, phase: "finish", ending: ending(event, at) },
  };
}

export function modelFailed(state: SessionState, event: EventOf<"model.failed">, at: At): SessionState {
  const reason = event.error.name === BudgetExceeded.kind.name ? "budget_exceeded" : "error";
  return withTurn(state, (turn) =>
    event.retryAt === undefined
      ? { ...without(turn, "retry"), phase: "finish", ending: { reason, answerVersion: at.version } }
      : {
          ...turn,
          retry: { at: event.retryAt, attempt: event.attempt, errorName: event.error.name, since: at.at },
        },
  );
}

/** One round more in this execution, and what its history grew by: 11 events and 7 a call (docs/decisions/0005). */
export function segmentAfterRound(
  turn: TurnState,
  calls: number,
): Pick<TurnState, "roundsInSegment" | "historyInSegment"> {
  return {
    roundsInSegment: turn.roundsInSegment + 1,
    historyInSegment: turn.historyInSegment + 11 + 7 * calls,
  };
}

function ending(event: EventOf<"model.replied">, at: At): NonNullable<TurnState["ending"]> {
  const reason =
    event.stop === "end_turn" || event.stop === "stop_sequence"
      ? "completed"
      : event.stop === "refusal"
        ? "refusal"
        : "incomplete";
  return { reason, answerVersion: at.version };
}
