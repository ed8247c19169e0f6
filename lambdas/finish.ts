// State Finish: ends the turn, then looks at the inbox.
import { finish } from "../lib/steps/finish.ts";
import { lambdaStep } from "./lambda-step.ts";
import { wire } from "./wire.ts";

export const handler = lambdaStep("finish", finish, wire());
