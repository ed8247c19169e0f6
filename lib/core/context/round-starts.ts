// Where a history may be cut: before a turn, or between two complete rounds. One rule for the window and for
// compaction, so that a call is never parted from its result and a continued reply never from its beginning.
import type { Event, PlannedCall } from "../event.ts";
import type { LoggedEvent } from "./logged-event.ts";

export type Starts = {
  /** Indexes of `events` at which a turn or a round begins, in order. */
  starts: number[];
  /** May everything be cut? False while a call is open or a reply waits for its continuation. */
  endIsClean: boolean;
  /** Is a call of the last round without result? */
  callOpen: boolean;
};

/** The round in which the walk stands: what it still waits for. */
type Round = { known: boolean; open: Set<number>; continues: boolean; begun: boolean };

/**
 * Starts of turns and rounds in `events` (in order; they may begin anywhere). What a round's beginning was not
 * seen of is never a start. Steered texts and notes belong to the round after them.
 */
export function roundStarts(events: readonly LoggedEvent[]): Starts {
  const starts: number[] = [];
  let round: Round = { known: false, open: new Set(), continues: false, begun: false };
  for (const [i, { event }] of events.entries()) {
    const clean = round.known && round.open.size === 0 && !round.continues;
    if (event.type === "turn.started" || event.type === "session.created") {
      starts.push(i);
      round = { known: true, open: new Set(), continues: false, begun: false };
    } else if (startsRound(event)) {
      // Before the first reply of a turn everything belongs to the turn's own start.
      if ((clean && round.begun) || (i === 0 && event.type === "model.replied")) {
        starts.push(i);
        round.begun = false;
      }
      if (event.type === "model.replied") {
        const continues = event.stop === "pause_turn" || event.stop === "max_tokens";
        round = { known: true, open: new Set(openCalls(event.calls)), continues, begun: true };
      }
    } else if (event.type === "call.finished") {
      round.open.delete(event.index);
    } else if (event.type === "turn.finished" || event.type === "turn.failed" || event.type === "rolled.back") {
      round = { known: round.known, open: new Set(), continues: false, begun: true };
    }
  }
  return {
    starts,
    endIsClean: round.known && round.begun && round.open.size === 0 && !round.continues,
    callOpen: round.open.size > 0,
  };
}

/** A refused call gets no result of its own: its refusal stands in the reply. */
function openCalls(calls: readonly PlannedCall[]): number[] {
  return calls.flatMap((call) => (call.refused === undefined ? [call.index] : []));
}

/** What stands at the beginning of a round: the reply, and what was said to the model just before it. */
function startsRound(event: Event): boolean {
  switch (event.type) {
    case "model.replied":
    case "turn.steered":
    case "notice":
    case "session.resumed":
    case "handoff.updated":
      return true;
    default:
      return false;
  }
}
