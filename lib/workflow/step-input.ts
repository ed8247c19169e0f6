// What the machine hands to a step, as the step takes it. The machine selects little: each path costs the embedded
// interpreter up to 30 µs, and what a step does not need stays in the state beside what it does.
import type { StepInput, StepOutput } from "../steps/io.ts";

/** Fields of its own, over the state (StepOutput) or, for a call, beside it as `state`. */
export type MachineInput = StepInput | (Pick<StepInput, "index" | "taskToken"> & { state: StepOutput });

/** The ids and the step's own fields, nothing else. */
export function stepInput(given: MachineInput): StepInput {
  const { tenant, sessionId, turn, segment, execution } = "state" in given ? given.state : given;
  const { cause, index, taskToken, error }: Partial<StepInput> = given;
  return {
    tenant,
    sessionId,
    turn,
    segment,
    execution,
    ...(cause === undefined ? {} : { cause }),
    ...(index === undefined ? {} : { index }),
    ...(taskToken === undefined ? {} : { taskToken }),
    ...(error === undefined ? {} : { error }),
  };
}
