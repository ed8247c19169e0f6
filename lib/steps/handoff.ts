// The handoff record as it is now: what the model wrote last, with what the journal says has happened since.
import type { LoggedEvent } from "../core/context/logged-event.ts";
import { emptyHandoff, type HandoffRecord } from "../core/handoff.ts";
import { handoffFromJournal, withJournal } from "../core/handoff-from-journal.ts";
import type { Head } from "../store/log.ts";
import type { Deps } from "./deps.ts";

export type CurrentHandoff = {
  record: HandoffRecord;
  /** The record as it stands in the log; absent when none does. */
  stored?: HandoffRecord;
  /** Events read to bring it up to date. */
  behind: number;
};

/**
 * Reads back to the last record: what it costs grows with the time since then. `shown`: so many of the newest events are
 * in front of the reader anyway, so their effects are left out.
 */
export async function currentHandoff(deps: Pick<Deps, "store">, head: Head, shown = 0): Promise<CurrentHandoff> {
  const { tenant, sessionId, version, state } = head;
  const stored = await readHandoff(deps, head);
  const since = state.marks.handoff ?? 0;
  const newestFirst: LoggedEvent[] = [];
  for await (const checkpoint of deps.store.log.lineage(tenant, sessionId, version)) {
    const { event } = checkpoint;
    const old = checkpoint.sessionId === sessionId && checkpoint.version <= since;
    // Calls of the round in which the record was written may have ended after it: their arguments are needed.
    if (old && (event.type === "turn.started" || event.type === "session.created")) break;
    newestFirst.push(checkpoint);
    if (old && (event.type === "model.replied" || event.type === "flow.planned")) break;
  }
  const events = newestFirst.slice(shown).toReversed();
  const news = events.filter((logged) => logged.event.type !== "call.finished" || logged.version > since);
  const firstTurn = newestFirst.toReversed().find(({ event }) => event.type === "turn.started")?.event;
  const turn = firstTurn?.type === "turn.started" ? firstTurn.turn - 1 : (state.turn?.turn ?? state.turns);
  const record = withJournal(stored ?? emptyHandoff, handoffFromJournal(news, turn));
  return { record, behind: events.length, ...(stored ? { stored } : {}) };
}

/** The record that stood at `head`; undefined when none did. */
export async function readHandoff(
  deps: Pick<Deps, "store">,
  head: Pick<Head, "tenant" | "sessionId" | "state">,
): Promise<HandoffRecord | undefined> {
  const { handoff } = head.state.marks;
  const found = handoff ? await deps.store.log.at(head.tenant, head.sessionId, handoff) : null;
  if (found?.event.type === "handoff.updated") return found.event.record;
  return found?.event.type === "session.created" ? found.event.handoff : undefined;
}
