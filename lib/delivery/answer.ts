// The finished turn as it is delivered: read from the log, so that every attempt sends the same bytes.
import type { EndReason } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { Deps } from "../steps/deps.ts";
import { canonical } from "../store/encoding.ts";

export type Answer = {
  tenant: string;
  sessionId: string;
  key: string;
  agent: string;
  title: string;
  turn: number;
  version: number;
  status: "completed" | "error";
  endReason: EndReason;
  answer: string;
  /** Epoch milliseconds. */
  at: number;
  /** As it stands in the log. */
  deliverTo?: Json;
};

/** `unfinished`: the turn is open or has not begun. `void`: it was rolled back or never asked for delivery. */
export async function answerOfTurn(
  deps: Pick<Deps, "store">,
  at: { tenant: string; sessionId: string; turn: number },
): Promise<Answer | "unfinished" | "void"> {
  const { tenant, sessionId, turn } = at;
  const { log } = deps.store;
  const head = await log.head(tenant, sessionId);
  if (!head) return "void";
  if (head.state.turns < turn || head.state.turn?.turn === turn) return "unfinished";
  const version = head.state.lastTurn?.turn === turn ? head.state.lastTurn.version : head.version;
  let ended: Answer | undefined;
  for await (const { event, version: v, at: time, state } of log.lineage(tenant, sessionId, version)) {
    if ((event.type === "turn.finished" || event.type === "turn.failed") && event.turn === turn) {
      const { endReason, answer, deliver } = event;
      const status = event.type === "turn.finished" ? event.status : "error";
      const { key, agent, title } = state;
      ended = { tenant, sessionId, key, agent, title, turn, version: v, status, endReason, answer, at: time };
      if (deliver !== undefined) return { ...ended, deliverTo: deliver };
    }
    if (event.type === "turn.started" && event.turn <= turn) {
      // Ended on a way that does not write it down: the message says where its answer goes.
      const wanted =
        event.turn === turn ? event.messages.find((message) => message.deliverTo !== undefined) : undefined;
      return ended && wanted?.deliverTo !== undefined ? { ...ended, deliverTo: wanted.deliverTo } : "void";
    }
  }
  return "void";
}

/** The same for every attempt, different for every other answer: how a receiver tells a repeat. */
export function deliveryId(at: { sessionId: string; turn: number }): string {
  return `${at.sessionId}.${at.turn}`;
}

/** The body of a webhook: canonical JSON `{type: "turn.finished", timestamp, data}` (the shape of Standard Webhooks). */
export function webhookBody(answer: Answer): string {
  const { tenant: _tenant, at, deliverTo: _target, title: _title, ...data } = answer;
  return canonical({ type: "turn.finished", timestamp: new Date(at).toISOString(), data });
}
