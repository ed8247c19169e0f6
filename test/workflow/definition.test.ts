// The machine as data: valid for Step Functions, bounded in time, and unable to carry content.
import aslValidator from "asl-validator";
import { describe, expect, it } from "vitest";
import { errorTable } from "../../lib/core/errors.ts";
import { leaseMarginMs } from "../../lib/core/limits.ts";
import { type StepInput, type StepOutput, stepNames } from "../../lib/steps/io.ts";
import type { Retrier, State, TaskState, Template } from "../../lib/workflow/asl.ts";
import { arnPlaceholders, stateMachineDefinition, substitutionOf } from "../../lib/workflow/definition.ts";
import { lambdaServiceErrors } from "../../lib/workflow/retries.ts";
import { stepTable } from "../../lib/workflow/step-table.ts";

const arn = (name: string) => `arn:aws:lambda:eu-central-1:123456789012:function:${name}`;
const arns = {
  begin: arn("begin"),
  think: arn("think"),
  act: arn("act"),
  ask: arn("ask"),
  compact: arn("compact"),
  finish: arn("finish"),
  fail: arn("fail"),
};
const definition = stateMachineDefinition(arns);
const states = new Map<string, State>(
  Object.entries(definition.States).flatMap(([name, state]) =>
    state.Type === "Map" ? [[name, state] as const, ...Object.entries(state.ItemProcessor.States)] : [[name, state]],
  ),
);
const tasks = [...states].filter((entry): entry is [string, TaskState] => entry[1].Type === "Task");
const task = (name: string): TaskState => {
  const found = tasks.find(([key]) => key === name);
  if (!found) throw new Error(`no task state ${name}`);
  return found[1];
};

describe("the state machine", () => {
  it("is valid Amazon States Language, paths and ARNs included", () => {
    const result = aslValidator(structuredClone(definition), { checkPaths: true, checkArn: true });
    expect(result.errorsText("\n")).toBe("");
    expect(result.isValid).toBe(true);
  });

  it("has one task state per step and one for the hand-over", () => {
    expect(tasks.map(([name]) => name).sort()).toEqual(
      [...stepNames.map((name) => stepTable[name].state), "HandOver"].sort(),
    );
  });

  it("names each state once, nested ones included", () => {
    const names = Object.values(definition.States).flatMap((state) =>
      state.Type === "Map" ? Object.keys(state.ItemProcessor.States) : [],
    );
    expect(names.filter((name) => name in definition.States)).toEqual([]);
  });

  it("reaches every state, and only states that exist", () => {
    const targets = new Set([definition.StartAt, ...[...states.values()].flatMap(targetsOf)]);
    expect([...targets].sort()).toEqual([...states.keys()].sort());
  });

  it("routes every decision, and fails on one that it does not know", () => {
    const route = states.get("Route");
    if (route?.Type !== "Choice") throw new Error("Route is no Choice");
    const decisions: Record<StepOutput["next"], string> = {
      think: "Think",
      act: "Calls",
      compact: "Compact",
      wait: "Wait",
      yield: "HandOver",
      finish: "Finish",
      done: "Done",
    };
    expect(Object.fromEntries(route.Choices.map((choice) => [choice.StringEquals, choice.Next]))).toEqual(decisions);
    expect(route.Default).toBe("Failed");
  });

  it("gives every task a time-out, longer than its function may run (H72)", () => {
    for (const [, state] of tasks) expect(state.TimeoutSeconds).toBeGreaterThan(0);
    for (const spec of Object.values(stepTable)) {
      expect(spec.functionTimeoutSeconds).toBeLessThanOrEqual(900);
      expect(spec.stateTimeoutSeconds).toBeGreaterThan(spec.functionTimeoutSeconds);
      expect(spec.stateTimeoutSeconds * 1000).toBeLessThan(2 ** 31);
    }
  });

  it("passes ids and numbers only, from known fields (H73, G20)", () => {
    const inputFields: Record<keyof StepInput, true> = {
      tenant: true,
      sessionId: true,
      turn: true,
      segment: true,
      execution: true,
      cause: true,
      index: true,
      taskToken: true,
      error: true,
    };
    const startFields = "StateMachineArn Name tenant sessionId turn segment cause".split(" ");
    // "$" and "$.state" are what a step answered (StepOutput), which has ids and numbers only; "$.item" is one of its `calls`.
    const sources = [
      "$ $.state $.item $.tenant $.sessionId $.turn $.segment $.cause $.handOver $.error.Error",
      "$$.Execution.Name $$.Map.Item $$.Task.Token $$.StateMachine.Id",
    ];
    const known = new Set([...sources.join(" ").split(" "), "States.MathAdd($.segment, 1)"]);
    const templates = [...states].flatMap(([name, state]): [string, Template][] => {
      if (state.Type === "Task") return state.Parameters ? [[name, state.Parameters]] : [];
      return state.Type === "Map" ? [[name, state.ItemSelector]] : [];
    });
    expect(templates.map(([name]) => name)).toEqual(["Begin", "Calls", "Ask", "HandOver", "Fail"]);
    for (const [name, template] of templates) {
      for (const [field, value] of leaves(template)) {
        if (field.endsWith(".$")) expect(known, `${name}.${field}`).toContain(value);
        const allowed =
          name === "HandOver" ? startFields : [...Object.keys(inputFields), "state", "item", "FunctionName"];
        expect(allowed, `${name}.${field}`).toContain(field.replace(".$", ""));
      }
    }
  });

  it("drops what calls and callbacks return", () => {
    for (const name of ["Act", "Ask", "HandOver"]) expect(task(name).ResultPath).toBeNull();
    expect(definition.States.Calls).toMatchObject({ Type: "Map", ResultPath: null, Next: "Think" });
  });

  it("retries exactly the transient errors of the error table and those of the Lambda service", () => {
    const transients = [...errorTable.values()].filter((kind) => kind.disposition === "Transient").map((k) => k.name);
    for (const name of ["Begin", "Think", "Act", "Compact", "Finish", "Fail"]) {
      const retried = new Set(
        task(name)
          .Retry?.filter((retrier) => retrier.MaxAttempts > 1)
          .flatMap(namesOf),
      );
      const own = name === "Act" ? transients : transients.filter((leaf) => leaf !== "CallInProgress");
      expect([...retried].sort(), name).toEqual([...own, ...lambdaServiceErrors].sort());
    }
  });

  it("tries what ran out of time or died twice at most (H28)", () => {
    for (const name of ["Begin", "Think", "Act", "Compact", "Finish", "Fail"]) {
      for (const error of ["States.Timeout", "Sandbox.Timedout", "Runtime.ExitError", "Lambda.Unknown"]) {
        const retrier = task(name).Retry?.find((candidate) => candidate.ErrorEquals.includes(error));
        expect(retrier?.MaxAttempts, `${name} ${error}`).toBe(1);
      }
    }
  });

  it("waits for a call in progress longer than any lease (H20)", () => {
    const retrier = task("Act").Retry?.[0];
    expect(retrier?.ErrorEquals).toEqual(["CallInProgress"]);
    expect(retrier && totalDelaySeconds(retrier)).toBeGreaterThan(14 * 60 + leaseMarginMs / 1000);
  });

  it("asks without retrying what may have mailed, and looks at the record instead of approving (G10)", () => {
    const ask = task("Ask");
    expect(ask.Resource).toBe("arn:aws:states:::lambda:invoke.waitForTaskToken");
    const retried = ask.Retry?.flatMap(namesOf) ?? [];
    expect(retried.filter((name) => !errorTable.has(name))).toEqual(["Lambda.TooManyRequestsException"]);
    expect(ask.Catch).toEqual([expect.objectContaining({ ResultPath: null, Next: "Act" })]);
    expect(ask.Catch?.[0]?.ErrorEquals).toEqual(
      expect.arrayContaining(["States.Timeout", "Lambda.ServiceException", "Lambda.Unknown"]),
    );
    expect(ask.Next).toBe("Act");
  });

  it("sends every other failure to Fail, and Fail's own to a failed execution", () => {
    const fail = [{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: "Fail" }];
    for (const name of ["Begin", "Think", "Compact", "Finish"]) expect(task(name).Catch).toEqual(fail);
    expect(definition.States.Calls).toMatchObject({ Catch: fail });
    expect(task("HandOver").Catch?.at(-1)).toEqual(fail[0]);
    expect(task("Fail").Catch).toEqual([{ ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: "Failed" }]);
  });

  it("takes a segment that was started already for handed over (G4)", () => {
    const already = ["StepFunctions.ExecutionAlreadyExistsException"];
    expect(task("HandOver").Retry?.[0]).toEqual({ ErrorEquals: already, MaxAttempts: 0 });
    expect(task("HandOver").Catch?.[0]).toEqual({ ErrorEquals: already, ResultPath: null, Next: "Done" });
  });

  it("is the same with placeholders for CDK, which fill in to the real ARNs", () => {
    const text = JSON.stringify(stateMachineDefinition(arnPlaceholders));
    const filled = stepNames.reduce((all, name) => all.replaceAll(`\${${substitutionOf(name)}}`, arns[name]), text);
    expect(JSON.parse(filled)).toEqual(definition);
  });
});

function targetsOf(state: State): string[] {
  switch (state.Type) {
    case "Choice":
      return [...state.Choices.map((choice) => choice.Next), state.Default];
    case "Map":
      return [state.Next, state.ItemProcessor.StartAt, ...state.Catch.map((catcher) => catcher.Next)];
    case "Task":
      return [...(state.Next ? [state.Next] : []), ...(state.Catch ?? []).map((catcher) => catcher.Next)];
    case "Wait":
      return [state.Next];
    default:
      return [];
  }
}

function leaves(template: unknown): [string, unknown][] {
  return Object.entries(template as Record<string, unknown>).flatMap(([key, value]) =>
    value !== null && typeof value === "object" ? leaves(value) : [[key, value] as [string, unknown]],
  );
}

function namesOf(retrier: Retrier): string[] {
  return retrier.ErrorEquals;
}

function totalDelaySeconds(retrier: Retrier): number {
  const { IntervalSeconds = 1, BackoffRate = 2, MaxDelaySeconds = Number.POSITIVE_INFINITY, MaxAttempts } = retrier;
  const delays = Array.from({ length: MaxAttempts }, (_, n) =>
    Math.min(IntervalSeconds * BackoffRate ** n, MaxDelaySeconds),
  );
  return delays.reduce((sum, delay) => sum + delay, 0);
}
