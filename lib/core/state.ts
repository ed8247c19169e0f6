// The snapshot that stands in every checkpoint: small (about 1 KB), enough to decide what happens next,
// never repeating content. Content is found through the versions named here.
import type { Usage } from "./content.ts";
import type { DayUsage } from "./day-usage.ts";
import type { Effect, EndReason, ResumeCause } from "./event.ts";
import type { ProjectState, ProjectTurn } from "./project.ts";

export type CallState = {
  index: number;
  id: string;
  tool: string;
  effect: Effect;
  gated: boolean;
  status: "pending" | "asking" | "started" | "finished";
  /** Epoch milliseconds; only while `started`. 0: void, the one who held it is known to be dead. */
  leaseUntil?: number;
  attempts: number;
  approvalId?: string;
  approval?: "pending" | "approved" | "rejected" | "expired" | "cancelled";
  /** People were asked whether it happened: `approvalId` is of kind `in_doubt`. */
  doubt?: true;
};

/** Waiting for the model after a transient refusal. `since`: when it refused, or when its wait was last counted (epoch ms). */
export type ModelRetry = { at: number; attempt: number; errorName: string; since?: number };

export type TurnState = {
  turn: number;
  startedVersion: number;
  startedAt: number;
  /** The execution that may write; anyone else is fenced off. */
  owner: string;
  segment: number;
  roundsInSegment: number;
  /** Events that the execution's history holds by now, about; it ends at 25,000 (AWS, "Quotas"). */
  historyInSegment: number;
  round: number;
  phase: "think" | "act" | "finish";
  /** Version of the reply whose calls are open. */
  replyVersion: number;
  calls: CallState[];
  retry?: ModelRetry;
  ending?: { reason: EndReason; answerVersion: number };
  stop?: { reason: string; thenSuspend: boolean; endReason?: "interrupted"; heldSeq?: number };
  /** The same tool with the same canonical input, in a row. */
  repetition?: { hash: string; count: number };
  /** Replies in a row that were cut or paused, to bound them. */
  continuations: number;
  cut?: "max_tokens" | "pause_turn";
  /** Next step of a flow, and the version where its state stands. */
  flow?: { index: number; stateVersion: number };
  deliver?: boolean;
  /** Somebody else than the session's user in person wrote in it: no facts about the user are shown. */
  impersonal?: boolean;
  /** Version of the event that says which facts the turn is shown; absent when nobody had to choose. */
  recalled?: number;
  /** Project mode: what the turn is for, and how far it is. */
  project?: ProjectTurn;
  /** Since when people are asked (epoch ms). */
  askedAt?: number;
  /** Time (ms) in which people were asked, or the turn stood still because the provider said so: not the agent's. */
  waitedMs: number;
};

export type SessionState = {
  tenant: string;
  sessionId: string;
  key: string;
  user: string;
  agent: string;
  createdAt: number;
  parent?: { sessionId: string; version: number };
  fork?: boolean;
  lifecycle:
    | { kind: "open" }
    /** `heldSeq`: see the event. */
    | { kind: "suspended"; cause: string; at: number; heldSeq?: number }
    /** `unsaid`: closed with its turn, and `session.closed` is still to be appended. */
    | { kind: "closed"; reason: string; at: number; successor?: string; unsaid?: true };
  resumePending?: { cause: ResumeCause; at: number };
  /** The open turn, or null between turns. */
  turn: TurnState | null;
  /** Number of the last turn that was started. */
  turns: number;
  lastTurn?: { turn: number; status: "completed" | "error"; endReason: EndReason; version: number; finishedAt: number };
  /** Project mode: how the work stands. */
  project?: ProjectState;
  title: string;
  lastUserAt: number;
  usage: Usage & { usdMicros: number };
  /** The same by day and model, for the days of the open or last turn, and the last one before it. Oldest first. */
  days?: DayUsage[];
  /** Real size of the last model request (all input kinds) plus its output, and the version of that reply. */
  context: { tokens: number; version: number };
  marks: {
    /** Version of the current handoff record. */
    handoff?: number;
    /** Version of the current summary. */
    summary?: number;
    /** Version of the event that last consumed inbox messages, and their highest number. */
    inbox?: number;
    inboxSeq: number;
    /**
     * Version of the last outcome that a handoff record has to tell of (a side effect, a resource); 0: none so far.
     * Absent in forks, whose parent's outcomes are not known here.
     */
    journal?: number;
    /** No compaction of its own accord before this time (epoch ms): the last one was refused. */
    compactNotBefore?: number;
    /** Version at which a compaction was asked for that has not been tried yet. */
    compactRequested?: number;
    /** Version of the latest rollback: what was read before it may be undone. */
    rolledBack?: number;
  };
  /** Recoveries in a row without a newly committed step. */
  recoveries: number;
  /** `once` calls that happened, for rollback and handoff: versions of their outcomes in the open turn. */
  effects: number;
};

/** What is shown outside for a session. */
export type SessionStatus = "created" | "running" | "paused" | "completed" | "failed" | "suspended" | "closed";
export type TurnStatus = "initiated" | "processing" | "waiting_for_input" | "completed" | "error";

/** The outside status of a session, from its snapshot. */
export function sessionStatus(state: SessionState): SessionStatus {
  if (state.lifecycle.kind !== "open") return state.lifecycle.kind;
  if (state.turn) return turnStatus(state) === "waiting_for_input" ? "paused" : "running";
  if (!state.lastTurn) return "created";
  return state.lastTurn.status === "error" ? "failed" : "completed";
}

/** The outside status of the open turn. */
export function turnStatus(state: SessionState): TurnStatus {
  const turn = state.turn;
  if (!turn) return state.lastTurn?.status ?? "initiated";
  const open = turn.calls.filter((call) => call.status !== "finished");
  if (open.length > 0 && open.every((call) => call.status === "asking")) return "waiting_for_input";
  return turn.round === 0 && turn.phase === "think" ? "initiated" : "processing";
}
