// Where the open turn's answer goes, for the event that ends it: so the answer and its delivery are one write.
import type { EndReason } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { afterTurn } from "../core/project.ts";
import type { Head } from "../store/log.ts";
import type { Deps } from "./deps.ts";

/** Empty for most turns, without a read. A project's own turns are silent but for the last one, which tells how it ended. */
export async function deliverOf(deps: Pick<Deps, "store">, head: Head, reason: EndReason): Promise<{ deliver?: Json }> {
  const { turn, project } = head.state;
  const last = turn?.project?.auto === true && afterTurn(project, turn.project, reason).status !== "working";
  const version = last ? project?.request : turn?.deliver ? turn.startedVersion : undefined;
  if (version === undefined) return {};
  const started = await deps.store.log.at(head.tenant, head.sessionId, version);
  const messages = started?.event.type === "turn.started" ? started.event.messages : [];
  const deliver = messages.find((message) => message.deliverTo !== undefined)?.deliverTo;
  return deliver === undefined ? {} : { deliver };
}

/** The answer stands: the sweeper need not wait. Best effort, since it looks anyway. */
export async function answered(
  deps: Pick<Deps, "store" | "clock">,
  { tenant, sessionId, turn }: { tenant: string; sessionId: string; turn: number },
): Promise<void> {
  await deps.store.deliveries.lookAgain(tenant, sessionId, turn, deps.clock.now()).catch(() => {});
}
