// How long and how big each step may be, as data: read by the definition, the CDK construct and the tests,
// so that a state's time-out and its function's limit cannot drift apart.
import type { StepName } from "../steps/io.ts";

export type StepSpec = {
  /** Name of its state in the machine. */
  state: string;
  /** Seconds after which Lambda stops the function; at most 900 (AWS Lambda quotas). */
  functionTimeoutSeconds: number;
  /** Seconds after which the state gives up. More than the function's limit, so that a slow step dies before it is tried again. */
  stateTimeoutSeconds: number;
  memoryMb: number;
  /** Which retriers the state has: see retries.ts. */
  retry: "step" | "call" | "callback";
};

/** Seconds that a state waits longer than its function may run: queueing and a cold start. */
const startMarginSeconds = 30;

/**
 * How long one callback waits before the approval's record is looked at again. A backstop: the record holds the
 * real expiry. Below 2^31 ms (24.8 days), the longest timer of the embedded interpreter.
 */
export const callbackSeconds = 20 * 24 * 3600;

/** Long steps have the longest run that Lambda allows: a tool may take 14 minutes, a model reply several. */
export const stepTable: Record<StepName, StepSpec> = {
  begin: short("Begin", 512),
  think: { ...long("Think", 1024), retry: "step" },
  act: { ...long("Act", 1024), retry: "call" },
  ask: { ...short("Ask", 512), stateTimeoutSeconds: callbackSeconds, retry: "callback" },
  compact: { ...long("Compact", 1024), retry: "step" },
  finish: short("Finish", 512),
  fail: short("Fail", 512),
};

function short(state: string, memoryMb: number): StepSpec {
  return { state, functionTimeoutSeconds: 60, stateTimeoutSeconds: 60 + startMarginSeconds, memoryMb, retry: "step" };
}

function long(state: string, memoryMb: number): Omit<StepSpec, "retry"> {
  return { state, functionTimeoutSeconds: 900, stateTimeoutSeconds: 900 + startMarginSeconds, memoryMb };
}
