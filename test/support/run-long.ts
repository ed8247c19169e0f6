// Plays a session of long-session.ts to its end and reads what became of it.
import type { Checkpoint } from "../../lib/core/checkpoint.ts";
import type { EventOf, EventType } from "../../lib/core/event.ts";
import type { Accepted } from "../../lib/sessions/accept.ts";
import { nameExecution } from "../../lib/steps/run.ts";
import type { Embedded } from "../../lib/testing/embed.ts";

export type LongRun = { sessionId: string; checkpoints: Checkpoint[] };

/** Sends the texts one after the other, each when the one before is answered. */
export async function play(embedded: Embedded, ...texts: string[]): Promise<LongRun> {
  let accepted: Accepted | undefined;
  for (const text of texts) {
    accepted = await embedded.send(text);
    await embedded.idle();
  }
  return readRun(embedded, accepted?.sessionId ?? "");
}

export async function readRun(embedded: Embedded, sessionId: string): Promise<LongRun> {
  return { sessionId, checkpoints: await embedded.deps.store.log.events("acme", sessionId, 0) };
}

export function eventsOf<T extends EventType>({ checkpoints }: LongRun, type: T): EventOf<T>[] {
  return checkpoints.flatMap(({ event }) => (event.type === type ? [event as EventOf<T>] : []));
}

/** What `/compact` does: appends the request and starts an execution when no turn is open. */
export async function requestCompaction(embedded: Embedded, sessionId: string): Promise<void> {
  const { log } = embedded.deps.store;
  const head = await log.head("acme", sessionId);
  if (!head) throw new Error("no such session");
  const writer = { next: () => `test/${head.version}` };
  const after = await log.append(head, { type: "compaction.requested", by: "ann" }, writer);
  if (after.state.turn) return;
  const at = { tenant: "acme", sessionId, turn: after.state.turns, segment: 0 };
  await embedded.deps.orchestrator.start(nameExecution({ ...at, salt: `c${after.version}` }), { ...at, cause: "" });
}
