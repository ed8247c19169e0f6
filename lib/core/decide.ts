// decideNext(state, now): what must happen next to a session. It knows no AWS, no clock, no randomness;
// the driver only dispatches what stands here.

import type { EndReason } from "./event.ts";
import {
  historyPerSegment,
  type Limits,
  maxPauses,
  maxTruncations,
  maxWaitSeconds,
  roundsPerSegment,
} from "./limits.ts";
import { isUnverified } from "./project.ts";
import type { SessionState, TurnState } from "./state.ts";

/** The next state of the machine. `at` is epoch milliseconds. */
export type Decision =
  | { next: "think" }
  | { next: "act"; calls: number[] }
  | { next: "compact" }
  | { next: "wait"; seconds: number }
  /** On in another execution. `turn`: with the next turn, which nobody has written to (project mode). */
  | { next: "yield"; segment: number; turn?: number }
  | { next: "finish" }
  /** Nothing to do here until `dueAt` (absent: until something happens). */
  | { next: "done"; dueAt?: number };

export type DecideOptions = {
  limits: Pick<Limits, "roundsPerTurn" | "turnMinutes" | "sameCall">;
  /** Rounds after which the turn goes on in a new execution. @default 200 */
  roundsPerSegment?: number;
  /** True when the context builder says that the next call must be preceded by a compaction. */
  compactionDue?: boolean;
};

export function decideNext(state: SessionState, now: number, options: DecideOptions): Decision {
  const turn = state.turn;
  const requested = state.marks.compactRequested !== undefined;
  if (state.lifecycle.kind === "closed") return { next: "done" };
  if (!turn) return requested && state.lifecycle.kind === "open" ? { next: "compact" } : { next: "done" };
  if (turn.stop || turn.phase === "finish") return { next: "finish" };
  if (turn.phase === "act") {
    const open = turn.calls.filter((call) => call.status !== "finished");
    if (open.length > 0) return { next: "act", calls: open.map((call) => call.index) };
  }
  if (turn.retry && turn.retry.at > now) {
    const seconds = Math.ceil((turn.retry.at - now) / 1000);
    return seconds > maxWaitSeconds ? { next: "done", dueAt: turn.retry.at } : { next: "wait", seconds };
  }
  if (limitReached(turn, now, options.limits)) return { next: "finish" };
  const full = turn.roundsInSegment >= (options.roundsPerSegment ?? roundsPerSegment);
  if (full || turn.historyInSegment >= historyPerSegment) {
    return { next: "yield", segment: turn.segment + 1 };
  }
  if (requested || options.compactionDue) return { next: "compact" };
  return { next: "think" };
}

/** Why a turn that is to finish ends. */
export function endReason(turn: TurnState, now: number, limits: DecideOptions["limits"]): EndReason {
  if (turn.stop) return turn.stop.endReason ?? "stopped";
  const reason = turn.ending?.reason ?? limitReached(turn, now, limits) ?? "incomplete";
  return reason === "completed" && isUnverified(turn.project) ? "not_verified" : reason;
}

function limitReached(turn: TurnState, now: number, limits: DecideOptions["limits"]): EndReason | null {
  if ((turn.repetition?.count ?? 0) >= limits.sameCall * 2) return "loop";
  if (turn.continuations >= (turn.cut === "pause_turn" ? maxPauses : maxTruncations)) {
    return turn.cut === "pause_turn" ? "incomplete" : "truncated";
  }
  if (!turn.flow && turn.round >= limits.roundsPerTurn) return "rounds";
  return now - turn.startedAt - turn.waitedMs > limits.turnMinutes * 60_000 ? "turn_minutes" : null;
}
