// What a compaction carries over word for word: taken from records, merged by rule, never through a model (G13).
import type { HandoffRecord } from "../handoff.ts";
import type { Journal } from "../handoff-from-journal.ts";
import { entryKey } from "./entry-key.ts";
import type { CarriedRecords, SummaryRecord } from "./summary-record.ts";

export type Records = {
  /** The summary that stands so far. */
  previous?: SummaryRecord;
  /** The current handoff record. Its constraints are the ones that hold: the user may have lifted earlier ones. */
  handoff?: HandoffRecord;
  /** Of the events that are replaced. */
  journal: Journal;
};

/** Same records, same result. Order: earlier summary, handoff record, journal; equal entries once. */
export function carryOver({ previous, handoff, journal }: Records): CarriedRecords {
  const earlier = previous?.carried;
  const effects = [...(earlier?.sideEffects ?? []), ...journal.sideEffects];
  return {
    constraints: unique(handoff?.constraints ?? earlier?.constraints ?? []),
    decisions: unique([...(earlier?.decisions ?? []), ...(handoff?.decisions ?? [])]),
    // The journal tells each effect once; equal ones are two effects. The record repeats the journal's.
    sideEffects: [...effects, ...missing(handoff?.sideEffects ?? [], effects)],
    resources: unique([...(earlier?.resources ?? []), ...(handoff?.resources ?? []), ...journal.resources]),
  };
}

function unique<T>(entries: readonly T[]): T[] {
  return [...new Map(entries.map((entry) => [entryKey(entry), entry])).values()];
}

/** Entries of `record` that `known` has not, or has fewer times. */
function missing<T>(record: readonly T[], known: readonly T[]): T[] {
  const left = known.map(entryKey);
  return record.filter((entry) => {
    const at = left.indexOf(entryKey(entry));
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}
