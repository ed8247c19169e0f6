// State Fail: records why a turn could not go on, from the error's name alone.
import { fail } from "../lib/steps/fail.ts";
import { lambdaStep } from "./lambda-step.ts";
import { wire } from "./wire.ts";

export const handler = lambdaStep("fail", fail, wire());
