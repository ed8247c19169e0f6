// What the model sees in one call, built from events of the log by one pure function: stable prefix, carried state,
// recent rounds. Nothing here reads, waits or stores.
import { readSummary } from "../compaction/summary-record.ts";
import type { Message } from "../content.ts";
import type { ContextStrategy, ModelAgent } from "../define-agent.ts";
import { contextBudget, estimateTokens } from "../estimate.ts";
import type { HandoffRecord } from "../handoff.ts";
import type { JsonObject } from "../json.ts";
import type { SessionState } from "../state.ts";
import { cacheMarks } from "./cache-marks.ts";
import { renderCarried, type ShownFact } from "./carried-state.ts";
import { newestRounds, shownTokens, type UsedStrategy, type WindowResult } from "./create-window.ts";
import { fenceRules, note } from "./fence.ts";
import type { LoggedEvent } from "./logged-event.ts";
import { languageOfTurn, messagesFrom, resumedNote } from "./messages-from-events.ts";

export type ContextTool = { name: string; description: string; inputSchema: JsonObject };
/** The parts of an agent that its context depends on. */
export type ContextAgent = Pick<ModelAgent, "instructions" | "constraints" | "model" | "windowTokens">;

export type ContextInput = {
  agent: ContextAgent;
  state: Pick<SessionState, "turn" | "context">;
  /** What `ContextWindow.result()` gave: events in order, the strategy used, the summary they come after. */
  events: readonly LoggedEvent[];
  strategy: UsedStrategy;
  /** True when the window had to leave out some of what the strategy wants. */
  over?: boolean;
  summary?: WindowResult["summary"];
  /** The checkpoint at `WindowResult.turnStartVersion`, when that was asked for. */
  turnStart?: LoggedEvent;
  /** The current handoff record (`state.marks.handoff`). */
  handoff?: HandoffRecord;
  /** The start of the turn that was open at the summary, when that has replaced it: shown as long as the summary is. */
  turnAtSummary?: LoggedEvent;
  /** The record as it stood at the summary; later changes are among the events, so the beginning stays the same. */
  handoffAtSummary?: HandoffRecord;
  facts?: readonly ShownFact[];
  notices?: readonly { kind: string; text: string }[];
  /** All tools of the request, built-in ones too. They are only counted here. */
  tools: readonly ContextTool[];
  /** Set when this call follows an interruption that `events` do not show. */
  resumed?: string;
  /** Model of this call. @default the agent's */
  model?: string;
  /** Language of the runtime's records. @default that of the newest user message */
  language?: string;
};

export type ContextProblem =
  /** It does not fit and may not be shortened: end the turn (`ContextTooLarge`). */
  | { kind: "too_large"; message: string }
  /** System, tools and carried state alone leave no room: no compaction can help (H49). */
  | { kind: "fixed_too_large"; message: string }
  /** Older rounds were left out to make it fit; a compaction is due. */
  | { kind: "shortened"; message: string };

export type BuiltContext = {
  system: { text: string; cache?: boolean }[];
  messages: Message[];
  cacheMessages: number[];
  /** Of the whole request: system, tools, messages. */
  estimatedTokens: number;
  /** Of what no strategy can leave out: system and tools. */
  fixedTokens: number;
  strategyUsed: UsedStrategy;
  problems: ContextProblem[];
};

export function buildContext(input: ContextInput): BuiltContext {
  const { agent, tools } = input;
  const system = systemPrompt(agent);
  const fixedTokens = estimateTokens({ system, tools, messages: [] });
  const budget = contextBudget(agent.model);
  const maxResultTokens = resultLimit(agent, input.strategy);
  const sizeOf = (messages: Message[]) => fixedTokens + messages.reduce((sum, m) => sum + estimateTokens(m), 0);

  let events = input.events;
  let shownResults = maxResultTokens;
  let messages = conversation(input, events, shownResults);
  let estimatedTokens = sizeOf(messages);
  let shortened = input.over === true;
  while (estimatedTokens > budget && input.strategy !== "full-replay") {
    const size = events.reduce((sum, { event }) => sum + shownTokens(event, maxResultTokens), 0);
    const room = size - Math.ceil((estimatedTokens - budget) * 1.1);
    const shorter = newestRounds(events, room, maxResultTokens);
    // One round of many long results cannot be cut, only shown shorter.
    if (shorter.length >= events.length && shownResults <= leastResultTokens) break;
    if (shorter.length >= events.length) shownResults = Math.max(leastResultTokens, Math.floor(shownResults / 2));
    events = shorter;
    messages = conversation(input, events, shownResults);
    estimatedTokens = sizeOf(messages);
    shortened = true;
  }
  return {
    system,
    messages,
    cacheMessages: cacheMarks(messages),
    estimatedTokens,
    fixedTokens,
    strategyUsed: input.strategy,
    problems: problemsOf({ estimatedTokens, fixedTokens, budget, shortened }),
  };
}

/** A result is never shown shorter than this. */
const leastResultTokens = 100;

/** Layer 1. The same bytes in every call of an agent; the mark covers the tools too, which stand before it. */
export function systemPrompt(agent: Pick<ModelAgent, "instructions" | "constraints">): BuiltContext["system"] {
  const constraints = agent.constraints.map((text) => `- ${text}`).join("\n");
  const pinned = constraints ? `\n\nConstraints that always hold:\n${constraints}` : "";
  return [{ text: agent.instructions }, { text: `${fenceRules}${pinned}`, cache: true }];
}

/** Has the record unfinished work? Then `auto` prefers it to the old conversation. */
export function hasOpenWork(record: HandoffRecord | undefined): boolean {
  if (!record) return false;
  return record.inProgress !== null || record.next !== "" || (record.features ?? []).some((feature) => !feature.passes);
}

/** Results over this many tokens are shown as head and tail: no single one may fill the window. */
export function resultLimit(agent: ContextAgent, strategy: ContextStrategy): number {
  const share = strategy === "sliding-window" ? agent.windowTokens / 2 : contextBudget(agent.model) / 3;
  return Math.max(200, Math.floor(share));
}

/** Layers 2 and 3. */
function conversation(input: ContextInput, events: readonly LoggedEvent[], maxResultTokens: number): Message[] {
  const budget = contextBudget(input.agent.model);
  const summary = input.summary ? readSummary(input.summary.event.summary) : undefined;
  const language = input.language ?? languageOf(input) ?? "en";
  // Where the whole history since the cut is shown, later constraints are noted at their place, so that the
  // beginning stays the same; else the current record is shown in front.
  const whole = (input.strategy === "full-replay" || input.strategy === "compaction") && isWhole(input, events);
  const handoff = whole && !input.resumed ? input.handoffAtSummary : input.handoff;
  const before = summary?.carried.constraints ?? [];
  const constraints = whole ? before : (input.handoff?.constraints ?? before);
  const openTurnVersion = input.state.turn?.startedVersion;
  const built = messagesFrom(events, {
    model: input.model ?? input.agent.model.id,
    ...(openTurnVersion === undefined ? {} : { openTurnVersion }),
    constraints,
    noteConstraints: whole,
    maxResultTokens,
    ...(input.summary ? { stubBefore: input.summary.version, stubTokens: Math.max(200, Math.floor(budget / 20)) } : {}),
    ...(input.handoffAtSummary ? { handoff: input.handoffAtSummary } : {}),
    language,
  });
  const unseen = (input.handoff?.constraints ?? []).filter((text) => !built.constraints.includes(text));
  const carried = renderCarried({
    ...(summary ? { summary } : {}),
    ...(handoff ? { handoff } : {}),
    constraints: [...constraints, ...unseen],
    ...(input.facts ? { facts: input.facts } : {}),
    ...(input.notices ? { notices: input.notices } : {}),
    language,
    maxListTokens: Math.max(200, Math.floor(budget / 10)),
  });
  const front = [...carried, ...beginning(input, events)].map((text) => ({ type: "text" as const, text }));
  const asked = whole && input.turnAtSummary ? asking(input.turnAtSummary) : turnStartContent(input, events);
  const [first, ...rest] = built.messages;
  const head = [...front, ...asked];
  if (!first) return head.length > 0 ? [{ role: "user", content: head }] : [];
  if (first.role === "user") return [{ role: "user", content: [...head, ...first.content] }, ...rest];
  const opening = head.length > 0 ? head : [{ type: "text" as const, text: note(omittedNote) }];
  return [{ role: "user", content: opening }, ...built.messages];
}

const omittedNote = "Earlier messages are not shown here.";

function beginning(input: ContextInput, events: readonly LoggedEvent[]): string[] {
  const fromStart = events[0]?.event.type === "session.created" || (input.summary && isWhole(input, events));
  const shownResume = events.some(({ event }) => event.type === "session.resumed");
  return [
    ...(fromStart ? [] : [note(omittedNote)]),
    ...(input.resumed && !shownResume ? [note(resumedNote(input.resumed))] : []),
  ];
}

/** Was nothing left out of what the window's strategy wants? */
function isWhole(input: ContextInput, events: readonly LoggedEvent[]): boolean {
  return !input.over && events === input.events;
}

/** The open turn's own message, verbatim, when the events begin inside that turn (H33). */
function turnStartContent(input: ContextInput, events: readonly LoggedEvent[]) {
  const version = input.state.turn?.startedVersion;
  if (version === undefined) return [];
  const isStart = (logged: LoggedEvent) => logged.version === version && logged.event.type === "turn.started";
  if (events.some(isStart)) return [];
  const start = input.turnStart ?? input.events.find(isStart);
  return start ? asking(start) : [];
}

/** What the user asked for at the start of a turn. */
function asking({ event }: LoggedEvent) {
  return event.type === "turn.started" ? event.messages.flatMap((message) => message.content) : [];
}

function languageOf(input: ContextInput): string | undefined {
  const said = input.events.findLast(({ event }) => languageOfTurn(event) !== undefined) ?? input.turnStart;
  return languageOfTurn(said?.event);
}

function problemsOf(found: {
  estimatedTokens: number;
  fixedTokens: number;
  budget: number;
  shortened: boolean;
}): ContextProblem[] {
  const { estimatedTokens, fixedTokens, budget } = found;
  if (fixedTokens >= budget) {
    const message = `instructions and tools need about ${fixedTokens} tokens of the ${budget} that window less output limit leave; no context fits: shorten them or take a larger window`;
    return [{ kind: "fixed_too_large", message }];
  }
  if (estimatedTokens > budget) {
    const message = `the context needs about ${estimatedTokens} tokens and ${budget} fit`;
    return [{ kind: "too_large", message }];
  }
  return found.shortened ? [{ kind: "shortened", message: "older rounds were left out to fit the window" }] : [];
}
