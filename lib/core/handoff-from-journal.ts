// Side effects and resources of a handoff record, computed from what calls really did: a model that forgets or
// embellishes cannot change them.
import type { CallBlock } from "./content.ts";
import type { LoggedEvent } from "./context/logged-event.ts";
import { stubText } from "./context/stub-result.ts";
import type { EventOf } from "./event.ts";
import type { HandoffRecord } from "./handoff.ts";
import type { Json } from "./json.ts";

export type Journal = Pick<HandoffRecord, "sideEffects" | "resources">;

const maxTargetTokens = 100;

/**
 * Effects of calls that are not `read` and that ran (done, in doubt, or failed after they were started), and
 * what tools declared as resources, in order. `turn`: number of the turn in which `events` begin.
 */
export function handoffFromJournal(events: readonly LoggedEvent[], turn = 0): Journal {
  const journal: Journal = { sideEffects: [], resources: [] };
  const inputs = new Map<string, Json>();
  let atTurn = turn;
  for (const { event } of events) {
    if (event.type === "turn.started") atTurn = event.turn;
    if (event.type === "model.replied" || event.type === "flow.planned") rememberInputs(event.content, inputs);
    // What was approved may differ from what was asked for: what ran counts.
    if (event.type === "call.started") inputs.set(callKey(event), event.input);
    if (event.type !== "call.finished") continue;
    const status = statusOf(event);
    if (status) {
      const input = inputs.get(callKey(event)) ?? inputs.get(event.callId) ?? {};
      const target = stubText(JSON.stringify(input), { maxTokens: maxTargetTokens });
      journal.sideEffects.push({ action: event.tool, target, atTurn, status });
    }
    if (event.outcome.status === "success") {
      for (const resource of event.outcome.resources ?? []) addNew(journal.resources, asText(resource));
    }
  }
  return journal;
}

/** `record` with the journal's entries added; what stands in it already is not repeated. */
export function withJournal(record: HandoffRecord, journal: Journal): HandoffRecord {
  const resources = [...record.resources];
  for (const resource of journal.resources) addNew(resources, resource);
  return { ...record, sideEffects: [...record.sideEffects, ...journal.sideEffects], resources };
}

function statusOf(event: EventOf<"call.finished">): HandoffRecord["sideEffects"][number]["status"] | null {
  if (event.effect === "read") return null;
  switch (event.outcome.status) {
    case "success":
      return "done";
    case "in_doubt":
      return "in_doubt";
    case "failed":
      // Without a run (bad arguments, unknown tool) there is no effect to tell of.
      return event.tookMs === undefined ? null : "failed";
    default:
      return null;
  }
}

function rememberInputs(content: readonly { type: string }[], inputs: Map<string, Json>): void {
  const calls = content.filter((block): block is CallBlock => block.type === "call");
  for (const call of calls) inputs.set(call.id, call.input);
}

function callKey(event: { round: number; index: number }): string {
  return `${event.round}.${event.index}`;
}

function addNew(list: string[], entry: string): void {
  if (!list.includes(entry)) list.push(entry);
}

function asText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
