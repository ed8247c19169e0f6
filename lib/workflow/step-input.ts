// What the machine hands to a step, as the step takes it. The machine selects whole objects: each path to a single value
// costs the embedded interpreter an exception, 30 to 50 µs (jsonpath-plus returns it that way).
import type { StepInput, StepOutput } from "../steps/io.ts";

/** The state, for some steps with fields of their own in it. For a call: the state, and the item of the Map, whose value is its index. */
export type MachineInput = StepInput | { state: StepOutput; item: { Value: number }; taskToken?: string };

/** The ids and the step's own fields, nothing else. */
export function stepInput(given: MachineInput): StepInput {
  if ("state" in given) {
    const { state, item, taskToken } = given;
    return { ...stepInput(state), index: item.Value, ...(taskToken === undefined ? {} : { taskToken }) };
  }
  const { tenant, sessionId, turn, segment, execution, cause, index, taskToken, error } = given;
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
