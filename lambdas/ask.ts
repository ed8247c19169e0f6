// State Ask: puts a call to people; the state waits until its task token is released.
import { ask } from "../lib/steps/ask.ts";
import { lambdaStep } from "./lambda-step.ts";
import { wire } from "./wire.ts";

export const handler = lambdaStep("ask", ask, wire());
