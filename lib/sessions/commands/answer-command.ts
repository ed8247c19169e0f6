// A chat command is carried out and answered at once, also while the agent is stuck. A repeated request id gets the
// same answer and does nothing twice: what is to be done is fixed by the first.
import { BatonError, isDisposition } from "../../core/errors.ts";
import { sessionId as makeSessionId } from "../../core/ids.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Deps } from "../../steps/deps.ts";
import type { Head } from "../../store/log.ts";
import type { Accept, Accepted } from "../accept.ts";
import { openSuccessor } from "../open-successor.ts";
import type { Command } from "./read-command.ts";
import { runCommand } from "./run-command.ts";

export type CommandPlan = {
  /** The session that stands behind the key when the request comes first; "" for none. */
  sessionId: string;
  version: number;
  messageId: string;
  /** Id for a session that the command may make. */
  newId: string;
};

export async function answerCommand(
  deps: Deps,
  message: Accept,
  command: Command & { once?: string | undefined; bodyHash: string },
): Promise<Accepted> {
  const { tenant, key } = message;
  const { once } = command;
  const head = await headOf(deps, tenant, key);
  const planned: CommandPlan = {
    sessionId: head?.sessionId ?? "",
    version: head?.version ?? 0,
    messageId: deps.ids.uuid(),
    newId: makeSessionId(new Date(deps.clock.now()).toISOString(), deps.ids.suffix()),
  };
  const claim = once ? await deps.store.once.claim(tenant, once, command.bodyHash, { ...planned } as JsonObject) : null;
  if (claim?.record.stage === "consumed") return claim.record.result as unknown as Accepted;
  const plan = claim ? (claim.record.result as unknown as CommandPlan) : planned;
  const done = await carryOut(deps, message, command, plan);
  const sessionId = done.sessionId ?? plan.sessionId;
  const after = sessionId ? await deps.store.log.head(tenant, sessionId) : null;
  const result: Accepted = {
    key,
    sessionId,
    turn: after?.state.turns ?? 0,
    messageId: plan.messageId,
    status: "completed",
    command: command.name,
    answer: done.answer,
    ...(done.notice ? { notice: done.notice } : {}),
  };
  if (once) {
    await deps.store.once.settle(tenant, once, result as unknown as Json);
    await deps.store.once.consume(tenant, once);
  }
  return result;
}

/** What cannot be done is said in the answer; what may succeed later is thrown, so that the request comes again. */
async function carryOut(deps: Deps, message: Accept, command: Command, plan: CommandPlan) {
  try {
    return await runCommand(deps, message, command, plan);
  } catch (error) {
    if (!(error instanceof BatonError) || !isDisposition(error, "Misuse")) throw error;
    return { answer: `/${command.name} is not possible: ${error.message}.` };
  }
}

/** A reset that was cut off is finished first. */
async function headOf(deps: Deps, tenant: string, key: string): Promise<Head | null> {
  const pointer = await deps.store.pointers.get(tenant, key);
  const head = pointer ? await deps.store.log.head(tenant, pointer.sessionId) : null;
  if (head?.state.lifecycle.kind !== "closed" || !head.state.lifecycle.successor) return head;
  return openSuccessor(deps, head);
}
