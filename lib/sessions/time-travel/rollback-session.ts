// Rollback: an appended checkpoint by which the session goes on from an earlier version. What came later stays in the
// log and leaves the context; the model is told what of it has happened in the world. An open turn is over with it.
import { ImpossibleTransition } from "../../core/errors.ts";
import type { Event } from "../../core/event.ts";
import type { Deps } from "../../steps/deps.ts";
import type { Head } from "../../store/log.ts";
import { cancelSessionApprovals } from "../approvals/cancel-approvals.ts";
import { type ControlOptions, control, type SessionAddress, touchSession } from "../control.ts";
import { startNext } from "../start-next.ts";
import { sideEffectsAfter } from "./side-effects.ts";
import { wholeVersion } from "./whole-version.ts";

/** Throws `InvalidInput` for a version that does not exist, `ImpossibleTransition` for one inside an open call. */
export async function rollbackSession(
  deps: Deps,
  at: SessionAddress,
  options: ControlOptions & { version: number },
): Promise<Head> {
  return rollBackTo(deps, at, options, async () => options.version);
}

/** Takes the last `turns` turns back, the open one included. Throws `ImpossibleTransition` when there are fewer. */
export async function undoTurns(
  deps: Deps,
  at: SessionAddress,
  options: ControlOptions & { turns: number },
): Promise<Head> {
  return rollBackTo(deps, at, options, (head) => versionBefore(deps, head, options.turns));
}

async function rollBackTo(
  deps: Deps,
  at: SessionAddress,
  options: ControlOptions,
  target: (head: Head) => Promise<number>,
): Promise<Head> {
  const after = await control(deps, at, options, async (head): Promise<Event> => {
    refuseClosed(head);
    const { version } = await wholeVersion(deps, head, await target(head));
    if (version === head.version) throw new ImpossibleTransition(`the session stands at version ${version} already`);
    const sideEffects = await sideEffectsAfter(deps, head, version);
    return { type: "rolled.back", to: version, by: at.user, endReason: "rolled_back", sideEffects };
  });
  await cancelSessionApprovals(deps, at, "the session was rolled back");
  await touchSession(deps, after);
  const waiting = await deps.store.inbox.list(at.tenant, at.sessionId, { limit: 1 });
  if (waiting.length > 0 && !after.state.turn) await startNext(deps, after, `b${after.version}`);
  return after;
}

export function refuseClosed({ state }: Head): void {
  if (state.lifecycle.kind !== "closed") return;
  throw new ImpossibleTransition(`the session is closed (${state.lifecycle.reason}); fork it instead`);
}

/** The version before the n-th last turn of this session, as it sees its past. */
async function versionBefore(deps: Deps, head: Head, turns: number): Promise<number> {
  let counted = 0;
  for await (const { event, version, sessionId } of deps.store.log.lineage(head.tenant, head.sessionId, head.version)) {
    // Before it lies the parent of a fork, whose turns are not this session's to undo.
    if (sessionId !== head.sessionId) break;
    if (event.type === "turn.started" && ++counted === turns) return version - 1;
  }
  const there = counted === 0 ? "there is no turn" : `there are only ${counted} turns`;
  throw new ImpossibleTransition(`${there} to undo`);
}
