// The next message of the inbox becomes a turn. Shared by begin, finish and fail, so that there is one path.
import type { InboxMessage } from "../core/event.ts";
import type { Head } from "../store/log.ts";
import { agentOf, type Deps } from "./deps.ts";
import type { Run } from "./run.ts";

/**
 * Starts the next turn under this execution when a message waits and no turn is open. Answers the head after it: with an
 * open turn (own or another's), or without one when there is nothing to do.
 */
export async function startTurn(run: Run, from?: Head): Promise<Head> {
  const { deps, input } = run;
  const { tenant, sessionId } = input;
  let head = from ?? (await run.head());
  for (;;) {
    if (head.state.turn || head.state.lifecycle.kind !== "open") return head;
    const message = await nextMessage(deps, head);
    if (!message) {
      await deps.store.statuses.write(head.state, head.version, deps.clock.now());
      return head;
    }
    const started = await run.commit((current) => {
      if (current.version !== head.version) return null;
      const flow = deps.agents.get(current.state.agent)?.kind === "flow";
      const turn = current.state.turns + 1;
      return { type: "turn.started", turn, owner: input.execution, messages: [message], ...(flow ? { flow } : {}) };
    }, head);
    if (started.version === head.version + 1 && started.state.turn?.owner === input.execution) {
      await consumed(deps, tenant, sessionId, [message]);
      await projectOpenTurn(deps, started);
      return started;
    }
    head = started;
  }
}

/** The next message that is in no turn yet. Cleans up what an interrupted predecessor had consumed already. */
async function nextMessage(deps: Deps, head: Head): Promise<InboxMessage | null> {
  const { tenant, sessionId } = head;
  const { inbox, once, log } = deps.store;
  for (;;) {
    const waiting = await inbox.list(tenant, sessionId, 20);
    if (waiting.length === 0) return null;
    const last = head.state.marks.inbox ? await log.at(tenant, sessionId, head.state.marks.inbox) : null;
    const inTurn = new Set(
      last && "messages" in last.event ? last.event.messages.map((message) => message.messageId) : [],
    );
    const stale: InboxMessage[] = [];
    for (const message of waiting) {
      const known = message.once ? await once.get(tenant, message.once) : null;
      if (!inTurn.has(message.messageId) && known?.stage !== "consumed") {
        await consumed(deps, tenant, sessionId, stale);
        return message;
      }
      stale.push(message);
    }
    await consumed(deps, tenant, sessionId, stale);
  }
}

/** After the commit that put messages into a turn: first the record of the request, then the inbox. */
export async function consumed(deps: Deps, tenant: string, sessionId: string, messages: InboxMessage[]): Promise<void> {
  for (const message of messages) {
    if (message.once) await deps.store.once.consume(tenant, message.once);
  }
  if (messages.length > 0) await deps.store.inbox.remove(tenant, sessionId, messages);
}

/** Lists show the open turn; the sweeper looks again after `stuckAfter`. */
export async function projectOpenTurn(deps: Deps, head: Head): Promise<void> {
  const now = deps.clock.now();
  const { stuckAfterMs } = agentOf(deps, head.state.agent).session;
  await deps.store.statuses.write(head.state, head.version, now, now + stuckAfterMs);
}
