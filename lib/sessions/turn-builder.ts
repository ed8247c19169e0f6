// One turn of a rebuilt session: folds the turn's events into its steps. A step may change while the turn goes on
// (an action is planned, runs, ends); what stands in `steps` is how it stood at the last event.
import type { Checkpoint } from "../core/checkpoint.ts";
import { noUsage, type Usage, type UserContent } from "../core/content.ts";
import type { ErrorRecord } from "../core/errors.ts";
import type { EndReason, EventOf, InboxMessage } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { TurnStatus } from "../core/state.ts";
import type { Numbering } from "./numbering.ts";
import { iso, shownUsage } from "./outside-units.ts";
import { actionsOf, finalStep, flowStep, observation, replyStep } from "./step-view.ts";
import type { Step, StepStatus, Turn } from "./tree-shape.ts";

export type TurnBuilder = {
  readonly number: number;
  /** `numbering` after the event; `before`: epoch milliseconds of the version before it. */
  add(checkpoint: Checkpoint, numbering: Numbering, before: number): void;
  /**
   * A rollback to version `to` happened: what came after it is marked, and an open turn is over. `reopened`: a retry, by
   * which the turn goes on.
   */
  rollBack(to: number, at: number, reopened?: boolean): void;
  /** Ends a turn that is still open. */
  close(reason: EndReason, at: number): void;
  inputOfCall(index: number): Json;
  /** `open`: the status of the turn when it is open. */
  build(open?: TurnStatus): Turn;
};

type Ending = { status: "completed" | "error"; endReason: EndReason; at: number; answer?: string; error?: ErrorRecord };

/** `notice`: what the user was told before this turn. */
export function createTurnBuilder(number: number, startedAt: number, notice?: Turn["notice"]): TurnBuilder {
  const steps: Step[] = [];
  const actions = new Map<number, Step>();
  const messages: Omit<Turn["messages"][number], "receipt">[] = [];
  const input: UserContent[] = [];
  let usage = { ...noUsage, usdMicros: 0 };
  let startedVersion = 0;
  let ending: Ending | undefined;
  let rolledBack = false;

  function take(received: readonly InboxMessage[]): void {
    for (const { messageId, at, from, content } of received) {
      messages.push({ messageId, at: iso(at), user: from.user, via: from.via });
      input.push(...content);
    }
  }

  function spend(event: { usage: Usage; usdMicros: number }): void {
    usage = {
      inputTokens: usage.inputTokens + event.usage.inputTokens,
      outputTokens: usage.outputTokens + event.usage.outputTokens,
      cacheReadTokens: usage.cacheReadTokens + event.usage.cacheReadTokens,
      cacheWriteTokens: usage.cacheWriteTokens + event.usage.cacheWriteTokens,
      usdMicros: usage.usdMicros + event.usdMicros,
    };
  }

  function plan(planned: Step[], calls: readonly { index: number }[]): void {
    actions.clear();
    for (const [i, step] of planned.entries()) {
      steps.push(step);
      actions.set(calls[i]?.index ?? i, step);
    }
  }

  function end(next: Ending): void {
    ending = next;
    for (const step of steps) {
      if (step.status === "pending" || step.status === "executing") finish(step, "cancelled", next.at);
    }
  }

  function add(checkpoint: Checkpoint, numbering: Numbering, before: number): void {
    const { event, at, version } = checkpoint;
    const place = { step: numbering.step, version, at, before };
    const action = "index" in event ? actions.get(event.index) : undefined;
    switch (event.type) {
      case "turn.started":
        startedVersion = version;
        take(event.messages);
        break;
      case "turn.steered":
        take(event.messages);
        break;
      case "model.replied":
        spend(event);
        steps.push(replyStep(event, place, numbering.final === numbering.step));
        plan(actionsOf(event, { ...place, step: place.step + 1 }), event.calls);
        break;
      case "flow.planned":
        plan(actionsOf(event, place), event.calls);
        break;
      case "model.failed":
      case "step.failed":
      case "flow.advanced":
        steps.push(flowStep(event, place));
        break;
      case "call.started":
        if (action) start(action, event, version, at);
        break;
      case "approval.requested":
        if (action) action.approval = { id: event.approvalId, kind: event.kind, status: "pending" };
        break;
      case "approval.decided":
        if (action?.approval?.id === event.approvalId) action.approval.status = event.status;
        break;
      case "call.finished":
        if (action) finish(action, outcomeStatus(event.outcome.status), at, event.outcome);
        steps.push(observation(event, place, outcomeStatus(event.outcome.status)));
        break;
      case "compaction.done":
      case "compaction.refused":
      case "memory.recalled":
        spend(event);
        break;
      case "turn.finished":
      case "turn.failed": {
        const status = event.type === "turn.finished" ? event.status : "error";
        const { endReason, answer } = event;
        const error = event.type === "turn.failed" ? event.error : undefined;
        end({ status, endReason, at, answer, ...(error ? { error } : {}) });
        if (!steps.some((step) => step.kind === "final" && !step.rolledBack)) steps.push(finalStep(event, place));
      }
    }
  }

  return {
    number,
    add,
    rollBack(to, at, reopened) {
      rolledBack ||= startedVersion > to;
      for (const step of steps) if (step.version > to) step.rolledBack = true;
      if (reopened) ending = undefined;
      else if (!ending) end({ status: "error", endReason: "rolled_back", at });
    },
    close(reason, at) {
      if (!ending) end({ status: "error", endReason: reason, at });
    },
    inputOfCall(index) {
      const [call] = actions.get(index)?.content ?? [];
      return call && typeof call === "object" && !Array.isArray(call) ? (call.input ?? null) : null;
    },
    build: (open) => ({
      turn: number,
      status: ending?.status ?? open ?? "processing",
      input,
      messages: messages.map((message) => ({ ...message, receipt: receiptOf(ending, rolledBack) })),
      ...(notice ? { notice } : {}),
      ...(ending?.answer === undefined ? {} : { answer: ending.answer }),
      startedAt: iso(startedAt),
      ...(ending ? { finishedAt: iso(ending.at), durationMs: Math.max(0, ending.at - startedAt) } : {}),
      ...(ending ? { endReason: ending.endReason } : {}),
      ...(ending?.error ? { error: ending.error } : {}),
      usage: shownUsage(usage),
      ...(rolledBack ? { rolledBack: true as const } : {}),
      steps,
    }),
  };
}

/** Ends by which the messages of a turn were not answered but called off. */
export const cancelling: readonly EndReason[] = ["stopped", "interrupted", "reset", "rolled_back"];

/** What has become of the turn's messages. One whose turn failed was dealt with all the same. */
function receiptOf(ending: Ending | undefined, rolledBack: boolean): Turn["messages"][number]["receipt"] {
  if (!ending) return "started";
  return rolledBack || cancelling.includes(ending.endReason) ? "cancelled" : "completed";
}

function start(action: Step, event: EventOf<"call.started">, version: number, at: number): void {
  // A repeated run keeps the place of the first: the step is the same one.
  if (action.status === "pending" && !action.attempts) {
    action.version = version;
    action.startedAt = iso(at);
  }
  action.status = "executing";
  action.attempts = event.attempt;
}

function finish(step: Step, status: StepStatus, at: number, outcome?: EventOf<"call.finished">["outcome"]): void {
  step.status = status;
  step.finishedAt = iso(at);
  step.durationMs = Math.max(0, at - Date.parse(step.startedAt));
  if (outcome && outcome.status !== "success") step.error = outcome.error;
}

function outcomeStatus(status: EventOf<"call.finished">["outcome"]["status"]): StepStatus {
  if (status === "success" || status === "cancelled") return status;
  return "failed";
}
