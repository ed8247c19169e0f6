// State Act: runs one call of the open reply, once. The errors ApprovalNeeded and CallInProgress are answers to the machine.
import { act } from "../lib/steps/act.ts";
import { lambdaStep } from "./lambda-step.ts";
import { wire } from "./wire.ts";

export const handler = lambdaStep("act", act, wire());
