// Marks a turn from which long-term memory is to learn, before the turn starts: no way of ending it can forget it.
import type { InboxMessage } from "../core/event.ts";
import { isPersonal } from "../core/memory.ts";
import type { Head } from "../store/log.ts";
import type { Deps } from "./deps.ts";

/** When the sweeper looks, if nobody did. */
const lookMs = 60_000;

/** One write for a message of the session's user to an agent with a memory; nothing for any other. */
export async function expectLesson(
  deps: Pick<Deps, "agents" | "store" | "clock">,
  head: Head,
  turn: number,
  message: InboxMessage | undefined,
): Promise<void> {
  const { tenant, sessionId, state } = head;
  const agent = deps.agents.get(state.agent);
  if (!message || agent?.kind !== "agent" || !agent.memory.enabled || !isPersonal(state, [message])) return;
  await deps.store.lessons.expect({ tenant, sessionId, turn }, deps.clock.now() + lookMs);
}
