// How far back the log must be read for one model call. The store reads backwards and asks after each event, so
// that a session of any length costs only its window.
import type { ContextStrategy } from "../define-agent.ts";
import { estimateEvent } from "../estimate.ts";
import type { Event, EventOf } from "../event.ts";
import type { LoggedEvent } from "./logged-event.ts";
import { roundStarts } from "./round-starts.ts";

/** A strategy that was chosen: what `auto` became. */
export type UsedStrategy = Exclude<ContextStrategy, "auto">;

export type WindowOptions = {
  strategy: ContextStrategy;
  /** Most tokens that the messages may have: the context budget less system, tools and carried state. */
  budgetTokens: number;
  /** Budget of `sliding-window`, and of the tail that `auto` keeps beside an open handoff record. @default 8000 */
  windowTokens?: number;
  /** `state.turn.startedVersion` of the open turn; absent between turns. */
  openTurnVersion?: number;
  /** Results longer than this are shown as stubs and count as such. @default no limit */
  maxResultTokens?: number;
  /** True when a handoff record with unfinished work stands (`hasOpenWork`); `auto` looks at it. @default false */
  openWork?: boolean;
};

export type WindowResult = {
  /** In version order; whole rounds. */
  events: LoggedEvent[];
  strategy: UsedStrategy;
  /** The compaction that the events come after, when the window reached it. */
  summary?: { version: number; event: EventOf<"compaction.done"> };
  /** The open turn's first version when it is older than the window: read that one checkpoint too. */
  turnStartVersion?: number;
  /** True when not all that the strategy wants fits in `budgetTokens`. */
  over: boolean;
};

export type ContextWindow = {
  /**
   * Takes the next older event of the lineage. "enough": nothing older is needed, this event included or not;
   * stop reading. Further events are ignored.
   */
  add(event: LoggedEvent["event"], version: number): "more" | "enough";
  /** May be asked once the reading has stopped: at "enough" or at the first event of the log. */
  result(): WindowResult;
};

/** Below this `auto` sends everything: a cut would save nothing. */
const smallTokens = 8000;

export function createWindow(options: WindowOptions): ContextWindow {
  const { strategy, budgetTokens, openTurnVersion } = options;
  const tailTokens = Math.min(options.windowTokens ?? 8000, budgetTokens);
  const small = Math.min(smallTokens, Math.floor(budgetTokens / 2));
  const checkpoints = strategy === "auto" && options.openWork === true;
  const limit = strategy === "sliding-window" ? tailTokens : checkpoints ? Math.max(small, tailTokens) : budgetTokens;
  const maxResultTokens = options.maxResultTokens ?? Number.POSITIVE_INFINITY;
  const newestFirst: LoggedEvent[] = [];
  let tokens = 0;
  let summary: WindowResult["summary"];
  let done = false;
  let seenTurn = openTurnVersion === undefined;

  return {
    add(event, version) {
      if (done) return "enough";
      if (summary && version <= summary.event.to) {
        done = true;
        return "enough";
      }
      if (event.type === "compaction.done") summary ??= { version, event };
      newestFirst.push({ event, version });
      tokens += shownTokens(event, maxResultTokens);
      if (version === openTurnVersion) seenTurn = true;
      const atTurn = event.type === "turn.started";
      const full = tokens > limit && (atTurn || event.type === "model.replied");
      const turnRead = strategy === "checkpoint" && atTurn && seenTurn;
      done = full || turnRead || version - 1 === summary?.event.to;
      return done ? "enough" : "more";
    },
    result() {
      const read = newestFirst.toReversed();
      const over = tokens > limit;
      // full-replay never drops anything: the caller ends the turn with a clear error instead.
      const keeps = over && strategy !== "full-replay";
      const kept = checkpoints || strategy === "sliding-window" ? tailTokens : limit;
      const events = keeps ? newestRounds(read, kept, maxResultTokens) : read;
      const turnIn = openTurnVersion === undefined || events.some((logged) => isStart(logged, openTurnVersion));
      return {
        events,
        strategy:
          strategy === "auto" ? chosen({ over: checkpoints && over, summary, small: tokens <= small }) : strategy,
        ...(summary ? { summary } : {}),
        ...(turnIn ? {} : { turnStartVersion: openTurnVersion }),
        over: over && strategy !== "sliding-window" && !checkpoints,
      };
    },
  };
}

/**
 * The newest whole rounds that have at most `tokens`; at least one round, also when it has more. So that the provider's
 * cache hits, the start stays the same for long: of those that keep at least half of `tokens`, the one whose number has
 * the highest power of two, which stands for as many rounds as that.
 */
export function newestRounds(
  events: readonly LoggedEvent[],
  tokens: number,
  maxResultTokens = Number.POSITIVE_INFINITY,
): LoggedEvent[] {
  const { starts } = roundStarts(events);
  const sizes = suffixTokens(events, maxResultTokens);
  const sizeAt = (start: number) => sizes[start] ?? 0;
  const fitting = starts.filter((start) => sizeAt(start) <= tokens);
  const large = fitting
    .filter((start) => sizeAt(start) * 2 >= tokens)
    .map((start) => ({ start, rank: rank(events, start) }));
  const steady = large.reduce((best, next) => (next.rank > best.rank ? next : best), { start: -1, rank: -1 });
  const start = steady.start >= 0 ? steady.start : (fitting[0] ?? starts.at(-1) ?? 0);
  return events.slice(start);
}

/** What `auto` is for this history; see context.md, "Four strategies". */
function chosen(found: { over: boolean; summary: WindowResult["summary"]; small: boolean }): UsedStrategy {
  if (found.over) return "checkpoint";
  return found.small && !found.summary ? "full-replay" : "compaction";
}

/** Tokens of an event as it is shown: a long result as its stub. */
export function shownTokens(event: Event, maxResultTokens: number): number {
  const tokens = estimateEvent(event);
  return event.type === "call.finished" ? Math.min(tokens, maxResultTokens) : tokens;
}

function suffixTokens(events: readonly LoggedEvent[], maxResultTokens: number): number[] {
  const sizes = events.map((logged) => shownTokens(logged.event, maxResultTokens));
  for (let i = sizes.length - 2; i >= 0; i--) sizes[i] = (sizes[i] ?? 0) + (sizes[i + 1] ?? 0);
  return sizes;
}

/** How long a start should stand: turns before rounds, round numbers before odd ones. */
function rank(events: readonly LoggedEvent[], start: number): number {
  for (let i = start; i < events.length; i++) {
    const event = events[i]?.event;
    if (event?.type === "turn.started") return turnRank + twos(event.turn);
    if (event?.type === "model.replied") return twos(event.round - 1);
  }
  return 0;
}

const turnRank = 64;

/** How often `n` can be halved. */
function twos(n: number): number {
  return n > 0 ? 31 - Math.clz32(n & -n) : 31;
}

function isStart(logged: LoggedEvent, version: number): boolean {
  return logged.version === version && logged.event.type === "turn.started";
}
