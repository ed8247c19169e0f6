// What the next session is told of the one before it: its handoff record, completed by what its calls have really
// done. Computed from the closed log alone, so whoever finishes a reset computes the same.
import type { LoggedEvent } from "../core/context/logged-event.ts";
import { emptyHandoff, type HandoffRecord } from "../core/handoff.ts";
import { withJournal } from "../core/handoff-from-journal.ts";
import type { Deps } from "../steps/deps.ts";
import type { Head } from "../store/log.ts";
import { journalOf } from "./time-travel/side-effects.ts";

/** Events looked back through for effects since the last record. */
const maxLookBack = 5000;

/** Undefined when there is nothing to tell. */
export async function carriedHandoff(deps: Pick<Deps, "store">, old: Head): Promise<HandoffRecord | undefined> {
  const mark = old.state.marks.handoff ?? 0;
  const record = mark > 0 ? await readHandoff(deps, old, mark) : undefined;
  const newestFirst: LoggedEvent[] = [];
  let turn = old.state.turns;
  for await (const { event, version, state, sessionId } of deps.store.log.lineage(
    old.tenant,
    old.sessionId,
    old.version,
  )) {
    if (newestFirst.length >= maxLookBack || (sessionId === old.sessionId && version <= mark)) break;
    newestFirst.push({ event, version });
    turn = state.turns;
  }
  const journal = journalOf(newestFirst.toReversed(), turn);
  if (!record && journal.sideEffects.length === 0 && journal.resources.length === 0) return undefined;
  return withJournal(record ?? { ...emptyHandoff, goal: old.state.title }, journal);
}

/** The record that stands at `version`: updated there, or carried over when the session was created. */
export async function readHandoff(
  deps: Pick<Deps, "store">,
  at: { tenant: string; sessionId: string },
  version: number,
): Promise<HandoffRecord | undefined> {
  const found = await deps.store.log.at(at.tenant, at.sessionId, version);
  if (found?.event.type === "handoff.updated") return found.event.record;
  return found?.event.type === "session.created" ? found.event.handoff : undefined;
}
