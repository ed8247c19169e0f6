// Which part of the history a summary replaces: everything before one clean boundary, so that no call is parted from
// its result (G13, H32).
import { shownTokens } from "../context/create-window.ts";
import type { LoggedEvent } from "../context/logged-event.ts";
import { roundStarts } from "../context/round-starts.ts";

export type Cut = {
  kind: "cut";
  /** Versions of the first and last event that are replaced, as `compaction.done` has them. */
  from: number;
  to: number;
  replaced: LoggedEvent[];
  kept: LoggedEvent[];
  replacedTokens: number;
  /** With long results as stubs. */
  keptTokens: number;
};

export type NoCut = {
  kind: "none";
  why:
    | "call_open"
    /** There is no boundary, or nothing before it. */
    | "no_boundary"
    /** The summary would be as long as what it replaces. */
    | "too_little";
};

export type CutOptions = {
  /** Most tokens of the kept tail. When even the newest round is larger, nothing is kept. */
  keepTokens: number;
  /** Long results in the tail become stubs of this size. */
  stubTokens: number;
  /** Most tokens that the summary and the carried records will have: less than this is not worth replacing. */
  summaryTokens: number;
};

/** `events`: all since the last cut, in order. An inherited part (before a fork) is replaced whole or not at all. */
export function chooseCut(events: readonly LoggedEvent[], options: CutOptions): Cut | NoCut {
  const { starts, endIsClean, callOpen } = roundStarts(events);
  if (callOpen) return { kind: "none", why: "call_open" };
  const fork = events.findLastIndex(({ event }) => event.type === "session.created" && event.fork === true);
  // A version names an event of this session's own log, so a cut lies behind the fork's first event.
  const boundaries = [...starts, ...(endIsClean ? [events.length] : [])].filter((at) => at > Math.max(0, fork));
  if (boundaries.length === 0) return { kind: "none", why: "no_boundary" };
  const before = sums(events, Number.POSITIVE_INFINITY);
  const stubbed = sums(events, options.stubTokens);
  const keptAt = (at: number) => (stubbed.at(-1) ?? 0) - (stubbed[at] ?? 0);
  const fitting = boundaries.filter((boundary) => keptAt(boundary) <= options.keepTokens);
  // As stubs a few huge results may all fit in the tail: then it is cut later, so that the summary is worth it.
  const worth = fitting.find((boundary) => (before[boundary] ?? 0) > options.summaryTokens);
  const at = worth ?? fitting[0] ?? boundaries.at(-1) ?? 0;
  const replaced = events.slice(0, at);
  const first = replaced[0];
  const last = replaced.at(-1);
  const replacedTokens = before[at] ?? 0;
  if (!first || !last) return { kind: "none", why: "no_boundary" };
  if (replacedTokens <= options.summaryTokens) return { kind: "none", why: "too_little" };
  // Inherited events have versions of another log; what is replaced begins at this one's first event.
  const own = fork === -1 ? first.version : 1;
  return {
    kind: "cut",
    from: own,
    to: last.version,
    replaced,
    kept: events.slice(at),
    replacedTokens,
    keptTokens: keptAt(at),
  };
}

/** Tokens of the events before each index, the last one of all. */
function sums(events: readonly LoggedEvent[], maxResultTokens: number): number[] {
  const found = [0];
  for (const { event } of events) found.push((found.at(-1) ?? 0) + shownTokens(event, maxResultTokens));
  return found;
}
