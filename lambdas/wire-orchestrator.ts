// The orchestrator for the functions that start executions or release callbacks.
import { SFNClient } from "@aws-sdk/client-sfn";
import { createStepFunctionsOrchestrator } from "../lib/adapters/step-functions.ts";
import type { Orchestrator } from "../lib/ports/orchestrator.ts";
import { requiredVariable } from "./environment.ts";

/** Reads BATON_STATE_MACHINE (ARN). */
export function wireOrchestrator(): Orchestrator {
  const requestHandler = { connectionTimeout: 1_000, requestTimeout: 5_000 };
  return createStepFunctionsOrchestrator({
    client: new SFNClient({ maxAttempts: 3, requestHandler }),
    stateMachineArn: requiredVariable("BATON_STATE_MACHINE"),
  });
}
