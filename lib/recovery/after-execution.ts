// What is left to do when an execution has ended, well or badly. Called by the rule on execution status (AWS) and by
// the interpreter's events (embedded); the sweeper does the same for what was never told.
import { settleRunOf } from "../batch/settle-slot.ts";
import { type Delivered, deliverAnswer } from "../delivery/deliver-answer.ts";
import { type EndStatus, type Recovered, recoverSession } from "../sessions/recover.ts";
import type { Deps } from "../steps/deps.ts";

export type EndedExecution = {
  tenant: string;
  sessionId: string;
  execution: string;
  status: EndStatus | "SUCCEEDED";
  /** The same for a repeated delivery of the same event. */
  eventId: string;
};

export type AfterExecution = { recovered?: Recovered; delivered?: Delivered; settled?: boolean };

/** Repeating it is harmless. */
export async function afterExecution(deps: Deps, ended: EndedExecution): Promise<AfterExecution> {
  const { tenant, sessionId, status } = ended;
  const after: AfterExecution =
    status === "SUCCEEDED" ? {} : { recovered: await recoverSession(deps, { ...ended, status }) };
  const head = await deps.store.log.head(tenant, sessionId);
  if (!head?.state.lastTurn) return after;
  const { turn } = head.state.lastTurn;
  after.settled = await settleRunOf(deps, { tenant, sessionId, key: head.state.key });
  after.delivered = await deliverAnswer(deps, { tenant, sessionId, turn });
  return after;
}
