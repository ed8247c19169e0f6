// The next message of the inbox becomes a turn. Shared by begin, finish and fail, so that there is one path.
import type { Head } from "../store/log.ts";
import { agentOf, type Deps } from "./deps.ts";
import type { Run } from "./run.ts";
import { consumed, unread } from "./unread.ts";

/** When the sweeper looks for the answer, if nobody delivered it. */
const deliveryLookMs = 60_000;

/**
 * Starts the next turn under this execution when a message waits and no turn is open. Answers the head after it: with an
 * open turn (own or another's), or without one when there is nothing to do.
 */
export async function startTurn(run: Run, from?: Head): Promise<Head> {
  const { deps, input } = run;
  const { tenant, sessionId } = input;
  let head = from ?? (await run.head());
  for (;;) {
    if (head.state.turn) return head;
    if (head.state.lifecycle.kind !== "open") {
      await leaveToSweeper(deps, head);
      return head;
    }
    const [message] = await unread(deps, head, { limit: 1 });
    if (!message) {
      await deps.store.statuses.write(head.state, head.version, deps.clock.now());
      return head;
    }
    if (await deps.store.stops.get(tenant)) {
      await leaveToSweeper(deps, head);
      return head;
    }
    const next = head.state.turns + 1;
    // First: the turn may end on any way, and none of them may forget it.
    if (message.deliverTo !== undefined) {
      await deps.store.deliveries.expect(tenant, sessionId, next, deps.clock.now() + deliveryLookMs);
    }
    let wrote = false;
    const started = await run.commit((current) => {
      // Not told by the owner: a stalled attempt of the same execution has the same name.
      wrote = current.version === head.version;
      if (!wrote) return null;
      const flow = deps.agents.get(current.state.agent)?.kind === "flow";
      return {
        type: "turn.started",
        turn: next,
        owner: input.execution,
        messages: [message],
        ...(flow ? { flow } : {}),
      };
    }, head);
    if (wrote) {
      await consumed(deps, started, [message]);
      await projectOpenTurn(deps, started);
      return started;
    }
    head = started;
  }
}

/** A stopped session starts nothing; what waits in it is the sweeper's business. */
async function leaveToSweeper(deps: Deps, head: Head): Promise<void> {
  const now = deps.clock.now();
  const waiting = await deps.store.inbox.list(head.tenant, head.sessionId, { limit: 1 });
  await deps.store.statuses.write(head.state, head.version, now, waiting.length > 0 ? now : undefined);
}

/** Lists show the open turn; the sweeper looks again after `stuckAfter`. */
export async function projectOpenTurn(deps: Deps, head: Head): Promise<void> {
  const now = deps.clock.now();
  const { stuckAfterMs } = agentOf(deps, head.state.agent).session;
  await deps.store.statuses.write(head.state, head.version, now, now + stuckAfterMs);
}
