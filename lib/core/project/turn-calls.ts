// What a turn has really called, from its events: the evidence by which a feature is completed. Nothing that a model
// says about its work counts here.
import type { CallBlock } from "../content.ts";
import type { LoggedEvent } from "../context/logged-event.ts";
import type { Effect, EventOf } from "../event.ts";
import type { JsonObject } from "../json.ts";

export type TurnCall = {
  callId: string;
  tool: string;
  effect: Effect;
  round: number;
  /** As it ran; where it did not run yet, as it was asked for. */
  input: JsonObject;
  /** open: not finished. none: it never ran and never will. */
  state: "open" | "none" | "success" | "failed";
};

/** `events`: of one turn, in order. */
export function turnCalls(events: readonly LoggedEvent[]): TurnCall[] {
  const calls = new Map<string, TurnCall>();
  for (const { event } of events) {
    if (event.type === "model.replied") {
      for (const planned of plannedCalls(event)) calls.set(`${planned.round}.${planned.index}`, planned);
    }
    if (event.type !== "call.started" && event.type !== "call.finished") continue;
    const place = `${event.round}.${event.index}`;
    const call = calls.get(place);
    if (!call) continue;
    if (event.type === "call.started") calls.set(place, { ...call, input: event.input });
    else calls.set(place, { ...call, state: endOf(event) });
  }
  return [...calls.values()];
}

function plannedCalls(reply: EventOf<"model.replied">): (TurnCall & { index: number })[] {
  const blocks = reply.content.filter((block): block is CallBlock => block.type === "call");
  return reply.calls.map(({ index, id, tool, effect, refused }) => ({
    index,
    callId: id,
    tool,
    effect,
    round: reply.round,
    input: blocks[index]?.input ?? {},
    state: refused === undefined ? "open" : "none",
  }));
}

function endOf({ outcome, tookMs }: EventOf<"call.finished">): TurnCall["state"] {
  if (outcome.status === "success") return "success";
  // In doubt counts as run: it may have changed something.
  return outcome.status === "in_doubt" || tookMs !== undefined ? "failed" : "none";
}
