// The steps of the machine as functions of their input: the same for Lambda handlers and the interpreter.
import { act } from "./act.ts";
import { ask } from "./ask.ts";
import { begin } from "./begin.ts";
import { compact } from "./compact.ts";
import type { Deps } from "./deps.ts";
import { fail } from "./fail.ts";
import { finish } from "./finish.ts";
import type { StepInput, StepName, StepOutput } from "./io.ts";
import { doneOutput, isFenced } from "./run.ts";
import { think } from "./think.ts";

type Step = (deps: Deps, input: StepInput) => Promise<StepOutput | Record<string, never>>;

export type Steps = Record<StepName, (input: StepInput) => Promise<StepOutput | Record<string, never>>>;

/** A step whose execution was fenced off ends quietly: the session belongs to another one now. */
export function createSteps(deps: Deps): Steps {
  const bound = (step: Step) => async (input: StepInput) => {
    try {
      return await step(deps, input);
    } catch (error) {
      if (isFenced(error)) return doneOutput(input);
      throw error;
    }
  };
  return {
    begin: bound(begin),
    think: bound(think),
    act: bound(act),
    ask: bound(ask),
    compact: bound(compact),
    finish: bound(finish),
    fail: bound(fail),
  } satisfies Steps;
}
