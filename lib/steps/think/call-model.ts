// One model call and the one event that comes of it: a stored reply, or a stored refusal with the time of
// the next try. Shared by the model loop and by prompts of a flow.
import type { CallBlock } from "../../core/content.ts";
import { cacheMarks } from "../../core/context/cache-marks.ts";
import { type BatonError, BudgetExceeded, isDisposition, toErrorRecord } from "../../core/errors.ts";
import type { Event, PlannedCall } from "../../core/event.ts";
import { maxModelAttempts } from "../../core/limits.ts";
import { retryDelayMs } from "../../core/model-retry.ts";
import { repairMessages } from "../../core/repair.ts";
import type { ModelReply, ModelRequest } from "../../ports/model.ts";
import type { Head } from "../../store/log.ts";
import { isHeld } from "../budget/paid-call.ts";
import { type PaidReply, paidReply } from "../budget/paid-reply.ts";
import type { OpenState, Run } from "../run.ts";

export type ModelCall = {
  request: ModelRequest;
  /** What is to be done about the calls of the reply. */
  plan: (
    calls: CallBlock[],
    reply: ModelReply,
  ) => Promise<{ calls: PlannedCall[]; repetition?: { hash: string; count: number } }>;
};

export async function callModel(run: Run, head: Head & { state: OpenState }, call: ModelCall): Promise<Head> {
  const { deps } = run;
  const { tenant, sessionId } = head;
  const { messages, repairs } = repairMessages(call.request.messages, {
    model: call.request.model,
    isToolKnown: (name) => call.request.tools.some((tool) => tool.name === name),
    paused: head.state.turn.cut === "pause_turn",
  });
  // Marks last, over what is really sent.
  const request = { ...call.request, messages, cacheMessages: cacheMarks(messages) };
  let event: Event;
  try {
    const reply = await paidReply(deps, head, request, {
      signal: deps.stopping,
      onText: (text) => deps.live.publish(tenant, sessionId, { kind: "text", text }),
    });
    event = await replied(head, reply, repairs, call);
  } catch (error) {
    event = failed(run, head, error);
  }
  return run.commitOwned(({ state: { turn } }) => {
    const stale = turn.turn !== head.state.turn.turn || turn.replyVersion !== head.state.turn.replyVersion;
    return stale ? null : event;
  }, head);
}

async function replied(
  head: Head & { state: OpenState },
  reply: PaidReply,
  repairs: string[],
  call: ModelCall,
): Promise<Event> {
  const calls = reply.content.filter((block) => block.type === "call");
  const plan = await call.plan(calls, reply);
  return {
    type: "model.replied",
    round: head.state.turn.round + 1,
    model: reply.model,
    content: reply.content,
    stop: reply.stop,
    usage: reply.usage,
    usdMicros: reply.usdMicros,
    ...plan,
    ...(reply.rawStop === undefined ? {} : { rawStop: reply.rawStop }),
    ...(reply.requestId === undefined ? {} : { requestId: reply.requestId }),
    ...(repairs.length > 0 ? { repairs } : {}),
  };
}

/** A passing refusal is stored with the time of the next try; after too many, or for a final one, without. */
function failed(run: Run, head: Head & { state: OpenState }, error: unknown): Event {
  const { deps } = run;
  if (deps.stopping.aborted) throw error;
  const overBudget = error instanceof BudgetExceeded;
  if (!isDisposition(error, "Transient") && !isDisposition(error, "Terminal") && !overBudget) throw error;
  // Held back by the tenant's limiter, or by a budget: nothing was tried.
  const attempt = (head.state.turn.retry?.attempt ?? 0) + (isHeld(error) || overBudget ? 0 : 1);
  const { retryAfterMs } = error as BatonError;
  const delay = retryDelayMs({ attempt, retryAfterMs });
  const again = isDisposition(error, "Transient") && attempt < maxModelAttempts;
  const partial = (error as { partial?: unknown }).partial;
  deps.log.warn("model call failed", { sessionId: head.sessionId, attempt, error: (error as Error).name, again });
  return {
    type: "model.failed",
    round: head.state.turn.round + 1,
    error: toErrorRecord(error),
    attempt,
    ...(again ? { retryAt: deps.clock.now() + delay } : {}),
    ...(typeof partial === "string" && partial !== "" ? { partial } : {}),
  };
}
