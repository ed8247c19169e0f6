// Retry: back to before the step that failed, and on from there in the same turn. What the turn did before stays done;
// the model is told what the failed part may have done.
import { ImpossibleTransition } from "../../core/errors.ts";
import type { Event } from "../../core/event.ts";
import type { SessionState } from "../../core/state.ts";
import type { Deps } from "../../steps/deps.ts";
import type { Head } from "../../store/log.ts";
import { cancelSessionApprovals } from "../approvals/cancel-approvals.ts";
import { type ControlOptions, control, type SessionAddress, touchSession } from "../control.ts";
import { startRecovery } from "../recovery.ts";
import { refuseClosed } from "./rollback-session.ts";
import { sideEffectsAfter } from "./side-effects.ts";

/** Throws `ImpossibleTransition` when no turn has failed, or the open one is at work. */
export async function retrySession(deps: Deps, at: SessionAddress, options: ControlOptions = {}): Promise<Head> {
  const after = await control(deps, at, options, async (head): Promise<Event> => {
    refuseClosed(head);
    const turn = await failedTurn(deps, head);
    const { version, round } = await beforeFailure(deps, head, turn);
    const sideEffects = await sideEffectsAfter(deps, head, version);
    return { type: "rolled.back", to: version, by: at.user, endReason: "rolled_back", sideEffects, reopen: { round } };
  });
  await cancelSessionApprovals(deps, at, "the step that asked for it is tried again");
  await touchSession(deps, after);
  await startRecovery(deps, after, "requested");
  return (await deps.store.log.head(at.tenant, at.sessionId)) ?? after;
}

async function failedTurn(deps: Deps, { state }: Head): Promise<number> {
  const { turn, lastTurn } = state;
  if (turn) {
    // One that waits for the model, or has lost its execution, may be pushed.
    if (turn.retry || !(await deps.orchestrator.isRunning(turn.owner))) return turn.turn;
    throw new ImpossibleTransition(`turn ${turn.turn} is at work; stop it first`);
  }
  if (!lastTurn) throw new ImpossibleTransition("there is no turn to try again");
  if (lastTurn.status === "completed") throw new ImpossibleTransition(`turn ${lastTurn.turn} did not fail`);
  if (lastTurn.endReason === "rounds") {
    throw new ImpossibleTransition("the turn has used up its rounds; write a message to go on from there");
  }
  return lastTurn.turn;
}

/** The last version of the turn from which it could go on, and the highest round that it has reached. */
async function beforeFailure(deps: Deps, head: Head, turn: number): Promise<{ version: number; round: number }> {
  let round = 0;
  for await (const checkpoint of deps.store.log.lineage(head.tenant, head.sessionId, head.version)) {
    const { state, event, version } = checkpoint;
    if (state.turn?.turn === turn) {
      round = Math.max(round, state.turn.round);
      if (canGoOn(state.turn)) return { version, round };
    }
    if (event.type === "turn.started" && event.turn <= turn) break;
  }
  throw new ImpossibleTransition(`turn ${turn} has no step to go on from`);
}

function canGoOn(turn: NonNullable<SessionState["turn"]>): boolean {
  const whole = turn.calls.every((call) => call.status === "finished");
  return turn.phase === "think" && whole && !turn.stop && !turn.retry && !turn.ending;
}
