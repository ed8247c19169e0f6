// Where an accepted message is now: waiting, in a turn, or moved on with its conversation.
import type { Deps } from "../steps/deps.ts";
import type { Head } from "../store/log.ts";

export type Place = { head: Head } & (
  | { kind: "waiting" /** Messages before it. */; ahead: number }
  | { kind: "turn"; turn: number }
  /** Neither: it was never stored, or long ago. */
  | { kind: "missing" }
);

/** Turns looked back through; a message that is in none of them is taken for missing. */
const maxLookBack = 1000;

/** Looks from `sessionId` on, along its successors. Null: there is no such session. */
export async function findMessage(
  deps: Pick<Deps, "store">,
  tenant: string,
  sessionId: string,
  messageId: string,
): Promise<Place | null> {
  const { inbox, log } = deps.store;
  let id = sessionId;
  for (;;) {
    // Order matters: the inbox first, then the log. Whatever leaves the inbox in between is then in the log.
    const waiting = await inbox.waiting(tenant, id);
    const head = await log.head(tenant, id);
    if (!head) return null;
    const consumedSeq = head.state.marks.inboxSeq;
    const index = waiting.findIndex((candidate) => candidate.messageId === messageId);
    const seq = waiting[index]?.seq ?? 0;
    // A number above all that were taken: it cannot be in a turn.
    const turn = seq > consumedSeq ? null : await turnOf(deps, head, messageId);
    if (turn !== null) return { head, kind: "turn", turn };
    if (index >= 0) {
      const before = waiting.slice(0, index).filter((other) => other.seq > consumedSeq);
      return { head, kind: "waiting", ahead: before.length };
    }
    const { lifecycle } = head.state;
    if (lifecycle.kind !== "closed" || !lifecycle.successor) return { head, kind: "missing" };
    if (!(await log.head(tenant, lifecycle.successor))) return { head, kind: "missing" };
    id = lifecycle.successor;
  }
}

/** The turn that has the message. Goes from one event that took messages to the one before it, not through all steps. */
async function turnOf(deps: Pick<Deps, "store">, head: Head, messageId: string): Promise<number | null> {
  const { log } = deps.store;
  let version = head.state.marks.inbox;
  for (let looked = 0; version !== undefined && looked < maxLookBack; looked++) {
    const found = await log.at(head.tenant, head.sessionId, version);
    const messages = found && "messages" in found.event ? found.event.messages : [];
    if (messages.some((message) => message.messageId === messageId)) return found?.state.turns ?? null;
    const before = await log.at(head.tenant, head.sessionId, version - 1);
    version = before?.state.marks.inbox;
  }
  return null;
}
