// State Compact: replaces the old part of the context by a summary.
import { compact } from "../lib/steps/compact.ts";
import { lambdaStep } from "./lambda-step.ts";
import { wire } from "./wire.ts";
import { wireModel } from "./wire-model.ts";

export const handler = lambdaStep("compact", compact, wire({ model: wireModel() }));
