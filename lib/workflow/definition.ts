// The state machine as data: a dispatcher with one state per step that carries ids, never content. Given to
// Step Functions with substitutions for the ARNs, and run unchanged by lib/local/interpreter.ts.
// Why gating is a Catch and not a Choice: docs/decisions/0005-asking-by-catch.md.
import { type StepName, stepNames } from "../steps/io.ts";
import type { Catcher, Definition, MapState, Retrier, State, TaskState, Template } from "./asl.ts";
import { lookAgain, retriersOf } from "./retries.ts";
import { stepTable } from "./step-table.ts";

/**
 * The machine over the functions with these ARNs.
 *
 * State transitions (what Standard workflows are billed by): a round is Think, Route, Calls and one Act per call,
 * so 3 + calls; a call that people decide adds 2 (Ask, and Act again); a turn adds 7 (Begin, Route, the last Think,
 * Route, Finish, Route, Done).
 */
export function stateMachineDefinition(arns: Record<StepName, string>, partition = "aws"): Definition {
  return {
    Comment: "Baton: one execution per turn segment. Losing it loses nothing; the log decides.",
    StartAt: "Begin",
    States: {
      Begin: { ...step("begin", arns), Parameters: { ...sessionFields, "cause.$": "$.cause" }, Next: "Route" },
      Route: route,
      Think: { ...step("think", arns), Next: "Route" },
      Calls: calls(arns, partition),
      Compact: { ...step("compact", arns), Next: "Route" },
      Wait: {
        Type: "Wait",
        Comment: "Retry-after of the model, at no cost.",
        SecondsPath: "$.waitSeconds",
        Next: "Think",
      },
      HandOver: handOver(partition),
      Finish: { ...step("finish", arns), Next: "Route" },
      Fail: {
        ...step("fail", arns),
        // Begin may have failed, so there may be no more than what the execution was started with.
        Parameters: { ...sessionFields, "error.$": "$.error.Error" },
        Catch: [all("Failed")],
        Next: "Route",
      },
      Done: { Type: "Succeed" },
      Failed: {
        Type: "Fail",
        Comment: "FAILED is what `recover` listens for.",
        Error: "TurnNotClosed",
        Cause: "The failure could not be recorded; recovery starts the turn again from its last checkpoint.",
      },
    },
  };
}

/** `${BeginArn}` and so on: what CDK's definitionSubstitutions fill in. */
export const arnPlaceholders = Object.fromEntries(
  stepNames.map((name) => [name, `\${${substitutionOf(name)}}`]),
) as Record<StepName, string>;

/** Key of a step's function in definitionSubstitutions: `BeginArn`. */
export function substitutionOf(name: StepName): string {
  return `${stepTable[name].state}Arn`;
}

const sessionFields: Template = {
  "tenant.$": "$.tenant",
  "sessionId.$": "$.sessionId",
  "turn.$": "$.turn",
  "segment.$": "$.segment",
  "execution.$": "$$.Execution.Name",
};

/** The first rule that fits is taken, and most rounds have calls. */
const route: State = {
  Type: "Choice",
  Choices: (
    [
      ["act", "Calls"],
      ["think", "Think"],
      ["finish", "Finish"],
      ["done", "Done"],
      ["compact", "Compact"],
      ["wait", "Wait"],
      ["yield", "HandOver"],
    ] as const
  ).map(([next, state]) => ({ Variable: "$.next", StringEquals: next, Next: state })),
  Default: "Failed",
};

/** Takes the state as it is: `stepInput` picks from it. */
function step(name: StepName, arns: Record<StepName, string>) {
  const { stateTimeoutSeconds, retry } = stepTable[name];
  return {
    Type: "Task" as const,
    Resource: arns[name],
    TimeoutSeconds: stateTimeoutSeconds,
    Retry: retriersOf(retry),
    Catch: [all("Fail")],
  };
}

/** All open calls of a round at once. Its result is dropped and Think follows: Think decides from the log anyway. */
function calls(arns: Record<StepName, string>, partition: string): MapState {
  return {
    Type: "Map",
    ItemsPath: "$.calls",
    ItemSelector: { "state.$": "$", "item.$": "$$.Map.Item" },
    // The most that AWS runs at once in an inline Map, and the interpreter's own limit.
    MaxConcurrency: 40,
    ItemProcessor: {
      ProcessorConfig: { Mode: "INLINE" },
      StartAt: "Act",
      States: { Act: act(arns.act), Ask: ask(arns.ask, partition) },
    },
    ResultPath: null,
    Catch: [all("Fail")],
    Next: "Think",
  };
}

function act(arn: string): TaskState {
  return {
    Type: "Task",
    Resource: arn,
    TimeoutSeconds: stepTable.act.stateTimeoutSeconds,
    Retry: retriersOf(stepTable.act.retry),
    Catch: [{ ErrorEquals: ["ApprovalNeeded"], ResultPath: null, Next: "Ask" }],
    ResultPath: null,
    End: true,
  };
}

function ask(arn: string, partition: string): TaskState {
  return {
    Type: "Task",
    Comment: "The record holds the expiry. Running out of time never means approved: Act looks at the record again.",
    Resource: `arn:${partition}:states:::lambda:invoke.waitForTaskToken`,
    Parameters: { FunctionName: arn, Payload: callPayload },
    TimeoutSeconds: stepTable.ask.stateTimeoutSeconds,
    Retry: retriersOf(stepTable.ask.retry),
    Catch: [lookAgain("Act")],
    ResultPath: null,
    Next: "Act",
  };
}

const callPayload: Template = { "state.$": "$.state", "item.$": "$.item", "taskToken.$": "$$.Task.Token" };

/** Starts the next segment and forgets it. Its name is made by the step, so a second start is a no-op. */
function handOver(partition: string): TaskState {
  return {
    Type: "Task",
    Resource: `arn:${partition}:states:::states:startExecution`,
    Parameters: {
      "StateMachineArn.$": "$$.StateMachine.Id",
      "Name.$": "$.handOver",
      Input: {
        "tenant.$": "$.tenant",
        "sessionId.$": "$.sessionId",
        "turn.$": "$.turn",
        "segment.$": "States.MathAdd($.segment, 1)",
        cause: "hand-over",
      },
    },
    TimeoutSeconds: stepTable.begin.stateTimeoutSeconds,
    Retry: [alreadyStarted, startRefused],
    Catch: [{ ErrorEquals: alreadyStarted.ErrorEquals, ResultPath: null, Next: "Done" }, all("Fail")],
    ResultPath: null,
    Next: "Done",
  };
}

const alreadyStarted: Retrier = { ErrorEquals: ["StepFunctions.ExecutionAlreadyExistsException"], MaxAttempts: 0 };
const startRefused: Retrier = {
  ErrorEquals: ["States.TaskFailed", "States.Timeout"],
  IntervalSeconds: 1,
  BackoffRate: 2,
  MaxDelaySeconds: 30,
  MaxAttempts: 5,
  JitterStrategy: "FULL",
};

function all(next: string): Catcher {
  return { ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: next };
}
