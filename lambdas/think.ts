// State Think: asks the model once, or takes one step of a flow.
import { think } from "../lib/steps/think.ts";
import { lambdaStep } from "./lambda-step.ts";
import { wire } from "./wire.ts";
import { wireModel } from "./wire-model.ts";
import { withEmbeddings } from "./with-embeddings.ts";

export const handler = lambdaStep("think", think, withEmbeddings(wire({ model: wireModel() })));
