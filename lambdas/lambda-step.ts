// A step as a Lambda handler. What crosses the state machine is checked to be small, and an error leaves with its
// literal name and its code only: messages may quote content, and Step Functions keeps what it is given.
import { BatonError, dispositionOf, toErrorRecord } from "../lib/core/errors.ts";
import type { Log } from "../lib/ports/clock.ts";
import type { Deps } from "../lib/steps/deps.ts";
import type { StepInput, StepName, StepOutput } from "../lib/steps/io.ts";
import { doneOutput, isFenced } from "../lib/steps/run.ts";
import { smallPayload } from "../lib/workflow/payload-limit.ts";
import { type MachineInput, stepInput } from "../lib/workflow/step-input.ts";
import type { Wiring } from "./wire.ts";

type Step = (deps: Deps, input: StepInput) => Promise<StepOutput | Record<string, never>>;
type Invocation = { getRemainingTimeInMillis(): number };

/** Left for the outcome to be written after a tool was told to stop. */
const stopMarginMs = 5_000;

/** `late`: parts of the wiring that can only be made during an invocation, such as what needs a secret. */
export function lambdaStep(name: StepName, step: Step, wiring: Wiring, late?: () => Promise<Partial<Wiring>>) {
  return async (given: MachineInput, invocation: Invocation): Promise<StepOutput | Record<string, never>> => {
    const input = stepInput(given);
    const stopping = AbortSignal.timeout(Math.max(0, invocation.getRemainingTimeInMillis() - stopMarginMs));
    try {
      return smallPayload(name, await step({ ...wiring, ...(await late?.()), stopping }, input));
    } catch (error) {
      // As in lib/steps/index.ts: the session belongs to another execution now.
      if (isFenced(error)) return doneOutput(input);
      logFailure(wiring.log, name, input, error);
      throw outward(error);
    }
  };
}

function logFailure(log: Log, step: StepName, input: StepInput, error: unknown): void {
  const { name, code } = toErrorRecord(error);
  const { tenant, sessionId, turn, execution } = input;
  const fields = { step, tenant, sessionId, turn, execution, error: name, code, detail: detailOf(error) };
  const expected = dispositionOf(name) === "Transient" || dispositionOf(name) === "Conflict";
  if (expected) log.info("step ended early", fields);
  else log.error("step failed", fields);
}

/** Our own messages speak of ids; those of others may quote content, so only where they came from is logged (G20). */
function detailOf(error: unknown): string | undefined {
  if (error instanceof BatonError && error.disposition !== "Misuse") return error.message.slice(0, 500);
  const frames = error instanceof Error ? (error.stack ?? "").split("\n") : [];
  return frames
    .filter((line) => line.startsWith("    at "))
    .slice(0, 8)
    .map((line) => line.trim())
    .join("; ");
}

/** The runtime reports `name`, `message` and `stack`, and needs all three to be text. */
function outward(error: unknown): Error {
  const { name, code } = toErrorRecord(error);
  const plain = new Error(code);
  plain.name = name;
  plain.stack = `${name}: ${code}`;
  return plain;
}
