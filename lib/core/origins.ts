// Where the parts of a context come from. Whoever decides about a call can see whose words may have led to it.
import type { LoggedEvent } from "./context/logged-event.ts";

/**
 * system: the author; user; tool: a result, `name` is the tool; memory: a fact from earlier sessions; summary, handoff:
 * records, partly written by a model from all of the others; runtime: notices.
 */
export type Origin = {
  kind: "system" | "user" | "tool" | "memory" | "summary" | "handoff" | "runtime";
  name?: string;
  /** Version of the newest part from there, when it stands in this session's log. */
  version?: number;
};

export type OriginSources = {
  /** What the context was built from, in order. */
  events: readonly LoggedEvent[];
  summary?: { version: number };
  handoff?: boolean;
  facts?: readonly unknown[];
};

/** Each origin once, always beginning with the system. A model cannot be asked which of them it heeded, so all count. */
export function originsOf({ events, summary, handoff, facts = [] }: OriginSources): Origin[] {
  const found = new Map<string, Origin>([["system", { kind: "system" }]]);
  const add = (origin: Origin) => found.set(`${origin.kind} ${origin.name ?? ""}`, origin);
  if (facts.length > 0) add({ kind: "memory" });
  if (summary) add({ kind: "summary", version: summary.version });
  if (handoff) add({ kind: "handoff" });
  for (const { event, version } of events) {
    switch (event.type) {
      case "turn.started":
      case "turn.steered": {
        const auto = event.type === "turn.started" && event.project?.auto;
        add({ kind: auto ? "runtime" : "user", version });
        break;
      }
      case "call.finished":
        add({ kind: "tool", name: event.tool, version });
        break;
      case "notice":
        add({ kind: "runtime", version });
        break;
      case "session.created":
        if (event.handoff) add({ kind: "handoff", version });
        break;
    }
  }
  return [...found.values()];
}
