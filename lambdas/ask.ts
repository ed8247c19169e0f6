// State Ask: puts a call to people; the state waits until its task token is released.
import { ask } from "../lib/steps/ask.ts";
import { lambdaStep } from "./lambda-step.ts";
import { once } from "./once.ts";
import { wire } from "./wire.ts";
import { wireApprovals } from "./wire-approvals.ts";
import { wireOrchestrator } from "./wire-orchestrator.ts";

const base = wire({ orchestrator: wireOrchestrator() });

export const handler = lambdaStep("ask", ask, base, once(wireApprovals));
