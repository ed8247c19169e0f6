// What goes into a step and comes out: ids and decisions, never content. The state machine carries exactly
// `StepOutput` from state to state.
import type { Decision } from "../core/decide.ts";

/** The agent steps: the same name is the file here, the file in lambdas/, and (capitalised) the state. */
export const stepNames = ["begin", "think", "act", "ask", "compact", "finish", "fail"] as const;
export type StepName = (typeof stepNames)[number];

export type StepInput = {
  tenant: string;
  sessionId: string;
  turn: number;
  segment: number;
  /** Name of the execution that runs the step; part of the writer id, and the owner of the turn. */
  execution: string;
  /** begin: why a turn may be taken over, and from whom (take-over.ts); "" for a plain start. */
  cause?: string;
  /** act, ask: the call. */
  index?: number;
  /** ask: what releases the waiting state. Secret. */
  taskToken?: string;
  /** fail: literal name of the error that a state ended with. */
  error?: string;
};

export type StepOutput = {
  tenant: string;
  sessionId: string;
  turn: number;
  segment: number;
  /** As in `StepInput`: the next step takes it from here. */
  execution: string;
  next: Decision["next"];
  /** Indexes of the open calls when `next` is "act", else empty. */
  calls: number[];
  /** Seconds when `next` is "wait", else 0. */
  waitSeconds: number;
  /** Name of the next segment's execution when `next` is "yield", else "". */
  handOver: string;
};
