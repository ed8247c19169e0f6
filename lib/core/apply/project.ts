// How the snapshot of a project changes with events: started turns, written records, sessions that take it over.
import type { At } from "../apply.ts";
import type { EventOf } from "../event.ts";
import { halted, turnWithRecord, withRecord } from "../project.ts";
import type { SessionState } from "../state.ts";

type Project = Pick<SessionState, "project">;

export function projectStarted(state: SessionState, event: EventOf<"turn.started">, at: At): Project {
  if (!event.project) return {};
  const before = state.project ?? { status: "working", total: 0, passing: 0, attempts: 0 };
  if (event.project.auto) return { project: before };
  // Whoever has written last is told how it ends.
  const { request: _, ...rest } = before;
  const asksDelivery = event.messages.some((message) => message.deliverTo !== undefined);
  return { project: asksDelivery ? { ...rest, request: at.version } : rest };
}

export function handoffUpdated(state: SessionState, { record }: EventOf<"handoff.updated">, at: At): SessionState {
  const project = withRecord(state.project, record);
  const turn = state.turn?.project
    ? { ...state.turn, project: turnWithRecord(state.turn.project, record) }
    : state.turn;
  return { ...state, turn, ...(project ? { project } : {}), marks: { ...state.marks, handoff: at.version } };
}

/** Another session's plan: whether it goes on here is for a user to say. */
export function carriedProject({ handoff }: EventOf<"session.created">): Project {
  const project = handoff ? withRecord(undefined, handoff) : undefined;
  return project ? { project: halted(project) } : {};
}

/** A person has led it back, and says how it goes on. */
export function rolledBackProject({ project }: SessionState, { reopen }: EventOf<"rolled.back">): Project {
  return project && !reopen ? { project: halted(project) } : {};
}
