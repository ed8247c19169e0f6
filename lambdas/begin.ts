// State Begin: the first step of every execution.
import { begin } from "../lib/steps/begin.ts";
import { lambdaStep } from "./lambda-step.ts";
import { wire } from "./wire.ts";

export const handler = lambdaStep("begin", begin, wire());
