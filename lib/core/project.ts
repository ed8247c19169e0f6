// Project mode: which turn comes next, and when the work stands still. Pure; the snapshot holds what is needed, so
// that whoever looks at a session (finish, the sweeper, a new process) says the same.
import type { Effect, EndReason } from "./event.ts";
import type { HandoffRecord } from "./handoff.ts";
import type { ProjectRules } from "./project/project-options.ts";

/** initializer: plans the features. worker: builds one. talk: answers a user while a plan stands. */
export type ProjectRole = "initializer" | "worker" | "talk";

/** What a turn is for; stands in its first event. */
export type ProjectTurn = {
  role: ProjectRole;
  /** Number of this try, from 1, and the most there are. A talk is none. */
  attempt: number;
  attempts: number;
  /** worker: the feature. */
  feature?: string;
  /** True: the runtime started it, nobody has written. */
  auto?: true;
  /** worker: the feature passes now. initializer: there is a plan. */
  verified?: true;
  /** The record written in this turn says that it cannot go on. */
  blocked?: true;
};

export type ProjectState = {
  /** working: the next turn starts by itself. halted: stopped, out of budget, rolled back, or taken over: waits for a user. */
  status: "working" | "passed" | "blocked" | "halted";
  total: number;
  passing: number;
  /** The first feature that does not pass. */
  next?: string;
  /** Turns in a row that ended without a verified feature. */
  attempts: number;
  /** Version of the turn's start that asked for the answer to be delivered. */
  request?: number;
};

/** The turn that a message starts (`auto`: no message, the runtime goes on). */
export function projectTurn(
  project: ProjectState | undefined,
  rules: ProjectRules,
  { auto }: { auto: boolean },
): ProjectTurn {
  const { attempts: failed = 0, next, total = 0 } = project ?? {};
  const tries = { attempt: failed + 1, attempts: rules.attempts };
  if (total === 0) {
    // A user who writes again has said more: the tries begin anew.
    return auto ? { role: "initializer", ...tries, auto: true } : { role: "initializer", ...tries, attempt: 1 };
  }
  if (auto && next !== undefined) return { role: "worker", ...tries, feature: next, auto: true };
  return { role: "talk", ...tries };
}

/** Does the next turn start without a message? */
export function goesOn(state: {
  lifecycle: { kind: string };
  turn: unknown;
  project?: Pick<ProjectState, "status">;
}): boolean {
  return state.lifecycle.kind === "open" && state.turn === null && state.project?.status === "working";
}

/** The project after a handoff record was written; unchanged when there are no features. */
export function withRecord(project: ProjectState | undefined, record: HandoffRecord): ProjectState | undefined {
  const features = record.features ?? [];
  if (features.length === 0) return project;
  const { next: _, ...rest } = project ?? { status: "working" as const, attempts: 0 };
  const open = features.find((feature) => !feature.passes);
  const passing = features.filter((feature) => feature.passes).length;
  return { ...rest, total: features.length, passing, ...(open ? { next: open.id } : {}) };
}

/** The open turn after a handoff record was written in it. */
export function turnWithRecord(turn: ProjectTurn, record: HandoffRecord): ProjectTurn {
  const { verified: _v, blocked: _b, ...rest } = turn;
  const features = record.features ?? [];
  const verified =
    turn.role === "initializer"
      ? features.length > 0
      : features.some((feature) => feature.id === turn.feature && feature.passes);
  return {
    ...rest,
    ...(verified ? { verified: true } : {}),
    ...(record.blocked.length > 0 ? { blocked: true } : {}),
  };
}

/** True for a turn whose answer counts for nothing: it was to prove something and has not. */
export function isUnverified(turn: ProjectTurn | undefined): boolean {
  return turn !== undefined && turn.role !== "talk" && !turn.verified;
}

/** Why a tool is closed for the rest of the turn: what was proven is not changed after its proof. Null: it is not. */
export function closedAfter(turn: ProjectTurn | undefined, tool: { effect: Effect }): string | null {
  if (turn?.role !== "worker" || !turn.verified || tool.effect === "read") return null;
  return `feature "${turn.feature}" is complete, and one turn builds one feature: change nothing more and end the turn`;
}

/** The project after its open turn has ended. */
export function afterTurn(project: ProjectState | undefined, turn: ProjectTurn, reason: EndReason): ProjectState {
  const before: ProjectState = project ?? { status: "working", total: 0, passing: 0, attempts: 0 };
  if (before.total > 0 && before.passing === before.total) return { ...before, status: "passed", attempts: 0 };
  if (reason === "stopped" || reason === "budget_exceeded") return { ...before, status: "halted" };
  // Not the work's fault: the same try is made again.
  if (reason === "interrupted" || reason === "rolled_back" || reason === "reset") return before;
  if (turn.role === "talk" || turn.verified) return { ...before, status: "working", attempts: 0 };
  const attempts = turn.attempt;
  const over = turn.blocked === true || attempts >= turn.attempts;
  return { ...before, status: over ? "blocked" : "working", attempts };
}

/** A project that another session or an earlier version left: it waits for a user. */
export function halted(project: ProjectState): ProjectState {
  return { ...project, status: project.status === "passed" ? "passed" : "halted", attempts: 0 };
}

/** A person lets it go on. */
export function revived(project: ProjectState): ProjectState {
  const open = project.total > 0 && project.passing < project.total;
  return open ? { ...project, status: "working", attempts: 0 } : project;
}
