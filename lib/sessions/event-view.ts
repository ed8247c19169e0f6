// An event as it is shown outside: the stored facts with times as ISO 8601 and money also in dollars.
import type { Checkpoint } from "../core/checkpoint.ts";
import type { Event, InboxMessage } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { advance, type Numbering } from "./numbering.ts";
import { iso, usd } from "./outside-units.ts";
import { cancelling } from "./turn-builder.ts";

export type EventView = {
  version: number;
  /** 0 before the first turn. */
  turn: number;
  /** The step in the turn; 0 for its start and outside of turns. */
  step: number;
  type: Event["type"];
  at: string;
  data: { [key: string]: Json };
};

/** The event of `checkpoint`, and the numbering to go on with. `before`: the numbering after the version before it. */
export function viewEvent(before: Numbering, checkpoint: Checkpoint): { view: EventView; numbering: Numbering } {
  const numbering = advance(before, checkpoint);
  const { version, event, at } = checkpoint;
  const { turn, step } = numbering;
  return { view: { version, turn, step, type: event.type, at: iso(at), data: data(event) }, numbering };
}

function data(event: Event): EventView["data"] {
  const { type: _type, ...facts } = event;
  return { ...facts, ...shown(event) } as EventView["data"];
}

function shown(event: Event): object {
  switch (event.type) {
    case "turn.started":
    case "turn.steered":
      return { messages: event.messages.map((message) => ({ ...shownMessage(message), receipt: "started" })) };
    case "turn.finished":
    case "turn.failed":
      return { receipt: cancelling.includes(event.endReason) ? "cancelled" : "completed" };
    case "model.failed":
      return event.retryAt === undefined ? {} : { retryAt: iso(event.retryAt) };
    case "model.replied":
    case "compaction.done":
    case "memory.recalled":
      return { usd: usd(event.usdMicros) };
    case "compaction.refused":
      return { usd: usd(event.usdMicros), notBefore: iso(event.notBefore) };
    case "call.started":
      return { leaseUntil: iso(event.leaseUntil) };
    case "approval.requested":
      return { expiresAt: iso(event.expiresAt) };
    case "approval.decided":
      return { decisions: event.decisions.map((decision) => ({ ...decision, at: iso(decision.at) })) };
    default:
      return {};
  }
}

/** Without what only the runtime needs: the idempotency record and the address of the answer, which may hold secrets. */
export function shownMessage(message: InboxMessage): object {
  const { once: _once, deliverTo: _deliverTo, at, ...rest } = message;
  return { ...rest, at: iso(at) };
}
