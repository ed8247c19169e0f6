// Appends a fact that belongs to no execution (a decision, a mail): unfenced, ordered like everything else.
import { VersionConflict } from "../core/errors.ts";
import type { Event } from "../core/event.ts";
import type { Head } from "../store/log.ts";
import type { Deps } from "./deps.ts";
import { createWriter } from "./run.ts";

const maxRaces = 200;

/**
 * Appends what `decide` answers for the latest version, again after every lost race; null = nothing to do. Answers the
 * head afterwards, or null when the session does not exist (any more).
 */
export async function appendEvent(
  deps: Pick<Deps, "store" | "ids">,
  at: { tenant: string; sessionId: string },
  decide: (head: Head) => Event | null | Promise<Event | null>,
): Promise<Head | null> {
  const writer = createWriter(`approval/${deps.ids.uuid()}`);
  for (let race = 0; race < maxRaces; race++) {
    const head = await deps.store.log.head(at.tenant, at.sessionId);
    const event = head ? await decide(head) : null;
    if (!head || !event) return head;
    try {
      return await deps.store.log.append(head, event, writer);
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
  throw new VersionConflict(`session ${at.sessionId}: lost the race for a version ${maxRaces} times`);
}
