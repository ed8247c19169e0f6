// Histories for tests: a small builder, and random ones for properties.
import fc from "fast-check";
import type { AssistantContent, Message, StopReason } from "../../../lib/core/content.ts";
import { noUsage } from "../../../lib/core/content.ts";
import type { LoggedEvent } from "../../../lib/core/context/logged-event.ts";
import { defineAgent, type ModelAgent } from "../../../lib/core/define-agent.ts";
import type { CallOutcome, Effect, Event, EventOf } from "../../../lib/core/event.ts";
import { emptyHandoff, type HandoffRecord } from "../../../lib/core/handoff.ts";

export function testAgent(options: Partial<Parameters<typeof defineAgent>[0]> = {}): ModelAgent {
  return defineAgent({ name: "test", instructions: "You investigate.", model: { id: "model-a" }, ...options });
}

export function log(...events: Event[]): LoggedEvent[] {
  return events.map((event, i) => ({ version: i + 1, event }));
}

export function created(extra: Partial<EventOf<"session.created">> = {}): Event {
  const ids = { tenant: "t", sessionId: "20260101_000000_00000000", key: "k", user: "u", agent: "test" };
  return { type: "session.created", ...ids, reason: "first", ...extra };
}

export function user(turn: number, ...texts: string[]): Event {
  return { type: "turn.started", turn, owner: "x", messages: inbox(texts) };
}

export function steered(...texts: string[]): Event {
  return { type: "turn.steered", messages: inbox(texts) };
}

function inbox(texts: string[]) {
  const from = { user: "u", via: "chat" as const };
  return texts.map((text, i) => ({
    messageId: `m${i}`,
    seq: i,
    content: [{ type: "text" as const, text }],
    at: 0,
    from,
  }));
}

/** A reply; `calls` are call ids. */
export function reply(
  round: number,
  options: { text?: string; calls?: string[]; stop?: StopReason; content?: AssistantContent[]; effect?: Effect } = {},
): Event {
  const { text, calls = [], effect = "read" } = options;
  const blocks = calls.map((id) => ({ type: "call" as const, id, name: "look", input: { id } }));
  const stop = options.stop ?? (calls.length > 0 ? "tool_use" : "end_turn");
  const content = options.content ?? [...(text === undefined ? [] : [{ type: "text" as const, text }]), ...blocks];
  const planned = calls.map((id, index) => ({ index, id, tool: "look", effect, gated: false }));
  const ran = stop === "max_tokens" ? [] : planned;
  return { type: "model.replied", round, model: "model-a", content, stop, usage: noUsage, usdMicros: 0, calls: ran };
}

export function finished(
  round: number,
  index: number,
  callId: string,
  text = "ok",
  more: { effect?: Effect; outcome?: CallOutcome } = {},
): Event {
  const { effect = "read", outcome = { status: "success", output: text } } = more;
  const result = { type: "result" as const, callId, content: [{ type: "text" as const, text }], isError: false };
  return { type: "call.finished", round, index, callId, tool: "look", effect, outcome, result };
}

export function ended(
  turn: number,
  answer = "done",
  endReason: EventOf<"turn.finished">["endReason"] = "completed",
): Event {
  return { type: "turn.finished", turn, status: endReason === "completed" ? "completed" : "error", endReason, answer };
}

export function handoff(record: Partial<HandoffRecord>): Event {
  return { type: "handoff.updated", record: { ...emptyHandoff, ...record } };
}

export function compacted(to: number, narrative: string, constraints: string[] = []): Event {
  const carried = { constraints, decisions: [], sideEffects: [], resources: [] };
  const summary = { format: 1, narrative, carried, latestUser: "the task", turns: { from: 1, to: 1 } };
  return {
    type: "compaction.done",
    from: 1,
    to,
    summary,
    model: "model-a",
    usage: noUsage,
    usdMicros: 0,
    cause: "threshold",
  };
}

/** What a request must be for the Messages API, besides its first and last role. Answers the faults. */
export function faults(messages: readonly Message[]): string[] {
  const found: string[] = [];
  if (messages[0]?.role !== "user") found.push("does not begin with a user message");
  for (const [i, message] of messages.entries()) {
    if (message.content.length === 0) found.push(`${i}: empty`);
    if (messages[i - 1]?.role === message.role) found.push(`${i}: two ${message.role} messages`);
    const before = messages[i - 1];
    const asked = before?.role === "assistant" ? before.content.flatMap((b) => (b.type === "call" ? [b.id] : [])) : [];
    if (message.role === "user") {
      const given = message.content.flatMap((b) => (b.type === "result" ? [b.callId] : []));
      if (given.join() !== asked.join()) found.push(`${i}: results ${given} for calls ${asked}`);
      const firstOther = message.content.findIndex((block) => block.type !== "result");
      if (firstOther !== -1 && message.content.slice(firstOther).some((b) => b.type === "result")) {
        found.push(`${i}: text before a result`);
      }
    }
  }
  const last = messages.at(-1);
  if (last?.role === "assistant" && last.content.some((b) => b.type === "call")) found.push("calls without results");
  return found;
}

// Never blank, no white space at the end: those are what the validator before each call mends.
const text = fc.oneof(
  fc.string({ maxLength: 200, unit: "grapheme" }).map((random) => `${random}.`),
  fc.integer({ min: 1, max: 400 }).map((n) => `${"word ".repeat(n)}end`),
);

type RandomRound = {
  calls: number;
  stop: StopReason;
  text: string;
  results: string[];
  order: number[];
  between: number;
};
const randomRound: fc.Arbitrary<RandomRound> = fc.record({
  calls: fc.integer({ min: 0, max: 4 }),
  stop: fc.constantFrom<StopReason>("tool_use", "tool_use", "tool_use", "pause_turn", "max_tokens"),
  text,
  results: fc.array(text, { minLength: 4, maxLength: 4 }),
  order: fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4, maxLength: 4 }),
  between: fc.integer({ min: 0, max: 9 }),
});
const randomTurn = fc.record({
  ask: fc.array(text, { minLength: 1, maxLength: 2 }),
  rounds: fc.array(randomRound, { maxLength: 6 }),
  end: fc.constantFrom("answer", "answer", "stopped", "failed"),
  answer: text,
});

/** Valid histories of a session that stands before a model call: the last turn is open, no call is. */
export const histories: fc.Arbitrary<{ events: LoggedEvent[]; openTurnVersion: number }> = fc
  .array(randomTurn, { minLength: 1, maxLength: 5 })
  .map((turns) => {
    const events: Event[] = [created()];
    let openTurnVersion = 0;
    for (const [t, turn] of turns.entries()) {
      const open = t === turns.length - 1;
      events.push(user(t + 1, ...turn.ask));
      if (open) openTurnVersion = events.length;
      for (const [r, round] of turn.rounds.entries()) events.push(...roundEvents(round, r + 1, `${t}_${r}`));
      if (open) break;
      if (turn.end === "answer") events.push(reply(turn.rounds.length + 1, { text: turn.answer }));
      if (turn.end !== "failed") {
        events.push(turn.end === "answer" ? ended(t + 1, turn.answer) : ended(t + 1, "", "stopped"));
      } else {
        const error = { name: "ModelRejected", code: "model.rejected", message: "no" };
        events.push({ type: "turn.failed", turn: t + 1, endReason: "error", error, answer: "It failed." });
      }
    }
    return { events: log(...events), openTurnVersion };
  });

function roundEvents(round: RandomRound, number: number, prefix: string): Event[] {
  // A paused reply has no calls of ours; one without calls that is not cut would end the turn.
  const count = round.stop === "pause_turn" ? 0 : round.stop === "tool_use" ? Math.max(1, round.calls) : round.calls;
  const ids = Array.from({ length: count }, (_, i) => `c${prefix}_${i}`);
  const events: Event[] = [reply(number, { text: round.text, calls: ids, stop: round.stop })];
  const ran = round.stop === "tool_use" ? round.order.filter((i) => i < count) : [];
  for (const [k, i] of ran.entries()) {
    events.push(finished(number, i, ids[i] ?? "", round.results[i]));
    if (k === 0 && round.between === 1) events.push(steered("by the way"));
    if (k === 0 && round.between === 2) events.push({ type: "notice", kind: "x", text: "said [in] between" });
    if (k === 0 && round.between === 3) events.push(handoff({ constraints: ["never mail"] }));
  }
  if (round.between === 4) events.push(steered("after the round"));
  if (round.between === 5) events.push({ type: "session.resumed", cause: "crash", owner: "y", voidLeases: true });
  if (round.between === 6) events.push(handoff({ goal: "g", next: "n", constraints: ["never mail", "use EUR"] }));
  return events;
}
