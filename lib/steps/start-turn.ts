// The next message of the inbox becomes a turn. Shared by begin, finish and fail, so that there is one path.

import type { EventOf, InboxMessage } from "../core/event.ts";
import type { Head } from "../store/log.ts";
import { agentOf, type Deps } from "./deps.ts";
import { expectLesson } from "./expect-lesson.ts";
import { projectGoesOn } from "./project/goes-on.ts";
import { autoTurn, talkTurn } from "./project/project-turn.ts";
import type { Run } from "./run.ts";
import { consumed, unread } from "./unread.ts";

/** Until the sweeper looks after a project whose next execution was never seen to start. */
const startGraceMs = 60_000;

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
    // Before the look: a message that comes after it keeps what its accepting asks of the sweeper.
    const seen = await deps.store.statuses.seen(tenant, sessionId);
    const [message] = await unread(deps, head, { limit: 1 });
    const auto = !message && projectGoesOn(deps, head);
    if (!message && !auto) {
      await deps.store.statuses.rest(head.state, head.version, deps.clock.now(), seen);
      return head;
    }
    if (await deps.store.stops.get(tenant)) {
      await leaveToSweeper(deps, head);
      return head;
    }
    const next = head.state.turns + 1;
    if (auto && input.turn !== next) {
      // An execution starts only the project's turn that it was made for; the machine starts the one for this.
      const now = deps.clock.now();
      await deps.store.statuses.write(head.state, head.version, now, now + startGraceMs);
      return head;
    }
    // First: the turn may end on any way, and none of them may forget it.
    if (message ? message.deliverTo !== undefined : head.state.project?.request !== undefined) {
      await deps.store.deliveries.expect(tenant, sessionId, next, deps.clock.now() + deliveryLookMs);
    }
    await expectLesson(deps, head, next, message);
    const event = message ? messageTurn(deps, head, message) : await autoTurn(deps, head);
    let wrote = false;
    const started = await run.commit((current) => {
      // Not told by the owner: a stalled attempt of the same execution has the same name.
      wrote = current.version === head.version;
      return wrote ? { ...event, owner: input.execution } : null;
    }, head);
    if (wrote) {
      await consumed(deps, started, message ? [message] : []);
      await projectOpenTurn(deps, started);
      return started;
    }
    head = started;
  }
}

function messageTurn(deps: Deps, head: Head, message: InboxMessage): EventOf<"turn.started"> {
  const flow = deps.agents.get(head.state.agent)?.kind === "flow";
  const project = talkTurn(deps, head);
  return {
    type: "turn.started",
    turn: head.state.turns + 1,
    owner: "",
    messages: [message],
    ...(flow ? { flow } : {}),
    ...(project ? { project } : {}),
  };
}

/** A stopped session starts nothing; what waits in it is the sweeper's business. */
async function leaveToSweeper(deps: Deps, head: Head): Promise<void> {
  const now = deps.clock.now();
  await deps.store.statuses.write(head.state, head.version, now, now);
}

/** Lists show the open turn; the sweeper looks again after `stuckAfter`. */
export async function projectOpenTurn(deps: Deps, head: Head): Promise<void> {
  const now = deps.clock.now();
  const { stuckAfterMs } = agentOf(deps, head.state.agent).session;
  await deps.store.statuses.write(head.state, head.version, now, now + stuckAfterMs);
}
