// A compaction that a person asks for: noted in the log, done before the next model call, or at once when no turn
// is open.
import { ImpossibleTransition } from "../core/errors.ts";
import type { Deps } from "../steps/deps.ts";
import type { Head } from "../store/log.ts";
import { type ControlOptions, control, type SessionAddress, touchSession } from "./control.ts";
import { startNext } from "./start-next.ts";

export async function compactSession(deps: Deps, at: SessionAddress, options: ControlOptions = {}): Promise<Head> {
  const after = await control(deps, at, options, ({ state }) => {
    if (state.lifecycle.kind !== "open") throw new ImpossibleTransition(`the session is ${state.lifecycle.kind}`);
    if (deps.agents.get(state.agent)?.kind === "flow") {
      throw new ImpossibleTransition("a flow has no conversation to compact");
    }
    return state.marks.compactRequested === undefined ? { type: "compaction.requested", by: at.user } : null;
  });
  await touchSession(deps, after);
  if (!after.state.turn) await startNext(deps, after, `c${after.version}`);
  return after;
}
