// What has happened in the world, from the log: for a model that is led back to before it, and for the next session.
import type { LoggedEvent } from "../../core/context/logged-event.ts";
import { handoffFromJournal, type Journal } from "../../core/handoff-from-journal.ts";
import type { Json } from "../../core/json.ts";
import type { Deps } from "../../steps/deps.ts";
import type { Head } from "../../store/log.ts";

const pageSize = 200;

/**
 * Effects after `version` up to `head`, in order, each as `{action, target, atTurn, status}`. All of them: also those of
 * branches that an earlier rollback left, since they have happened too.
 */
export async function sideEffectsAfter(deps: Pick<Deps, "store">, head: Head, version: number): Promise<Json[]> {
  const { tenant, sessionId } = head;
  const events: LoggedEvent[] = [];
  let turn = 0;
  for (let after = version; after < head.version; ) {
    const page = await deps.store.log.events(tenant, sessionId, after, Math.min(pageSize, head.version - after));
    if (page.length === 0) break;
    if (after === version) turn = page[0]?.state.turns ?? 0;
    // Replies are needed for the arguments; the rest of a long log is not kept.
    events.push(...page.filter(({ event }) => tellsOfCalls.has(event.type)));
    after += page.length;
  }
  return journalOf(events, turn).sideEffects;
}

const tellsOfCalls = new Set(["turn.started", "model.replied", "flow.planned", "call.started", "call.finished"]);

/** The journal of `events`, with calls that were started and whose outcome was never stored as in doubt. */
export function journalOf(events: readonly LoggedEvent[], turn: number): Journal {
  const unfinished = new Map<string, LoggedEvent>();
  for (const logged of events) {
    const { event } = logged;
    if (event.type === "call.started" && event.effect !== "read")
      unfinished.set(`${event.round}.${event.index}`, logged);
    if (event.type === "call.finished") unfinished.delete(`${event.round}.${event.index}`);
  }
  const journal = handoffFromJournal(events, turn);
  const open = handoffFromJournal(
    events.flatMap(({ event, version }): LoggedEvent[] => {
      if (event.type !== "call.started") return event.type === "turn.started" ? [{ event, version }] : [];
      if (unfinished.get(`${event.round}.${event.index}`)?.version !== version) return [];
      const error = { name: "OutcomeUnknown", code: "call.in_doubt", message: "the outcome is not known" };
      const { round, index, tool, effect } = event;
      const result = { type: "result" as const, callId: "", content: [], isError: true };
      const outcome = { status: "in_doubt" as const, error };
      return [
        { event, version },
        { event: { type: "call.finished", round, index, callId: "", tool, effect, outcome, result }, version },
      ];
    }),
    turn,
  );
  return { ...journal, sideEffects: [...journal.sideEffects, ...open.sideEffects] };
}
