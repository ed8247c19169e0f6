// Which errors a state tries again, computed from the error table by literal name, so that a new Transient is
// retried without anyone remembering to list it here.
import { errorTable } from "../core/errors.ts";
import type { Catcher, Retrier } from "./asl.ts";
import type { StepSpec } from "./step-table.ts";

/** The retriers of a step's state, in the order in which they are matched. */
export function retriersOf(retry: StepSpec["retry"]): Retrier[] {
  switch (retry) {
    case "step":
      return [transient([...transientNames(), ...lambdaServiceErrors]), died()];
    case "call":
      return [callInProgress(), transient([...transientNames(), ...lambdaServiceErrors]), died()];
    case "callback":
      // Only what surely did not reach people: a service error may come after the mail was sent, so it goes
      // back to Act, which looks at the record first (lookAgain).
      return [transient([...transientNames(), "Lambda.TooManyRequestsException"])];
  }
}

/** Errors of the Lambda service itself, before or around our code (Step Functions developer guide, "Best practices"). */
export const lambdaServiceErrors = [
  "Lambda.ServiceException",
  "Lambda.AWSLambdaException",
  "Lambda.SdkClientException",
  "Lambda.TooManyRequestsException",
  "Lambda.ClientExecutionTimeoutException",
];

/** What a state ends with when the process died or ran out of time: an outcome is unknown, and may be so every time. */
export const deathErrors = ["States.Timeout", "Sandbox.Timedout", "Runtime.ExitError", "Lambda.Unknown"];

/** Where a callback goes whose fate is unknown or whose time is over: back to `next`, which reads the record. */
export function lookAgain(next: string): Catcher {
  const unknown = [...lambdaServiceErrors.filter((name) => name !== "Lambda.TooManyRequestsException"), ...deathErrors];
  return { ErrorEquals: unknown, ResultPath: null, Next: next };
}

/** Names of every Transient that is retried at once; CallInProgress waits for a lease and has its own retrier. */
export function transientNames(): string[] {
  return [...errorTable.values()]
    .filter((kind) => kind.disposition === "Transient" && kind.name !== "CallInProgress")
    .map((kind) => kind.name);
}

function transient(ErrorEquals: string[]): Retrier {
  return {
    ErrorEquals,
    IntervalSeconds: 1,
    BackoffRate: 2,
    MaxDelaySeconds: 30,
    MaxAttempts: 5,
    JitterStrategy: "FULL",
  };
}

/** Another delivery holds the call: its lease may last a tool's longest time-out (14 min) plus margin; these waits last 19. */
function callInProgress(): Retrier {
  return {
    ErrorEquals: ["CallInProgress"],
    IntervalSeconds: 5,
    BackoffRate: 1.5,
    MaxDelaySeconds: 60,
    MaxAttempts: 24,
  };
}

/** H28: what timed out or killed its process is tried twice at most, since it may do so each time. */
function died(): Retrier {
  return { ErrorEquals: deathErrors, IntervalSeconds: 1, MaxAttempts: 1 };
}
