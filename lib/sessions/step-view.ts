// One event of a turn as a step of its tree.
import type { AssistantContent } from "../core/content.ts";
import type { EventOf, PlannedCall } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { iso, shownUsage } from "./outside-units.ts";
import type { Step, StepStatus } from "./tree-shape.ts";

/** Where an event stands; times are epoch milliseconds, `before` that of the version before it. */
export type Place = { step: number; version: number; at: number; before: number };

/** A reply: the final one of the turn, or a thought on the way. */
export function replyStep(event: EventOf<"model.replied">, place: Place, final: boolean): Step {
  const refused = final && event.stop !== "end_turn" && event.stop !== "stop_sequence";
  return {
    ...base(place, final ? "final" : "thought", refused ? "failed" : "success"),
    content: event.content.flatMap(shownBlock),
    round: event.round,
    model: event.model,
    usage: shownUsage({ ...event.usage, usdMicros: event.usdMicros }),
  };
}

/** The calls of a reply or of a step of a flow, each an action from the moment it was asked for. */
export function actionsOf(event: EventOf<"model.replied"> | EventOf<"flow.planned">, place: Place): Step[] {
  return event.calls.map((call, i) => ({
    step: place.step + i,
    version: place.version,
    kind: "action",
    status: call.refused === undefined ? "pending" : "failed",
    name: call.tool,
    content: callBlocks(event.content, call),
    startedAt: iso(place.at),
    ...(call.refused === undefined
      ? {}
      : {
          error: { name: "CallRefused", code: "call.refused", message: call.refused },
          finishedAt: iso(place.at),
          durationMs: 0,
        }),
    round: event.round,
    callId: call.id,
    effect: call.effect,
  }));
}

/** What a call came to. */
export function observation(event: EventOf<"call.finished">, place: Place, status: StepStatus): Step {
  const { outcome, tookMs = 0 } = event;
  return {
    ...base({ ...place, before: place.at - tookMs }, "observation", status),
    name: event.tool,
    content: event.result.content as Json[],
    ...(outcome.status === "success" ? { output: outcome.output } : { error: outcome.error }),
    round: event.round,
    callId: event.callId,
    effect: event.effect,
  };
}

/** The result of a flow's step, or a failure that made no reply. */
export function flowStep(
  event: EventOf<"flow.advanced"> | EventOf<"step.failed"> | EventOf<"model.failed">,
  place: Place,
): Step {
  switch (event.type) {
    case "flow.advanced":
      return {
        ...base(place, "observation", "success"),
        name: event.name,
        content: [],
        output: event.state,
        ...(event.skipped ? { skipped: true } : {}),
      };
    case "step.failed":
      return { ...base(place, "observation", "failed"), name: event.name, content: [], error: event.error };
    case "model.failed":
      return {
        ...base(place, "thought", "failed"),
        content: event.partial ? [{ type: "text", text: event.partial }] : [],
        error: event.error,
        round: event.round,
      };
  }
}

/** The end of a turn that has no final reply: a flow's answer, or why it ended. */
export function finalStep(event: EventOf<"turn.finished"> | EventOf<"turn.failed">, place: Place): Step {
  const completed = event.type === "turn.finished" && event.status === "completed";
  const stopped = event.endReason === "stopped" || event.endReason === "interrupted" || event.endReason === "reset";
  return {
    ...base(place, "final", completed ? "success" : stopped ? "cancelled" : "failed"),
    content: event.answer ? [{ type: "text", text: event.answer }] : [],
    ...(event.type === "turn.failed" ? { error: event.error } : {}),
  };
}

function base(place: Place, kind: Step["kind"], status: StepStatus) {
  const { step, version, at } = place;
  const before = Math.min(place.before, at);
  return { step, version, kind, status, startedAt: iso(before), finishedAt: iso(at), durationMs: at - before };
}

/** Text and thinking of a reply. Calls are steps of their own; opaque blocks and signatures are for the provider only. */
function shownBlock(block: AssistantContent): Json[] {
  if (block.type === "text") return [{ type: "text", text: block.text }];
  if (block.type === "thinking") return [{ type: "thinking", thinking: block.thinking }];
  return [];
}

function callBlocks(content: readonly AssistantContent[], call: PlannedCall): Json[] {
  const calls = content.filter((block) => block.type === "call");
  const asked = calls.find((block) => block.id === call.id) ?? calls[call.index];
  if (!asked) return [];
  const { id, name, input, raw, invalid } = asked;
  return [{ type: "call", id, name, input, ...(raw === undefined ? {} : { raw }), ...(invalid ? { invalid } : {}) }];
}
