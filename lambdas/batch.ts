// Runs for each event that a rule of the stack matches (EventBridge): starts the tasks that wait for its kind. The rule
// says whose event it is.
import * as z from "zod";
import { takeEvent } from "../lib/batch/take-event.ts";
import { BatonError, InvalidInput } from "../lib/core/errors.ts";
import { tenantPattern } from "../lib/core/ids.ts";
import { wire } from "./wire.ts";
import { wireOrchestrator } from "./wire-orchestrator.ts";

const name = z.string().min(1).max(256);
const event = z.object({
  tenant: z.string().regex(tenantPattern),
  id: name,
  source: name,
  detailType: name,
  detail: z.json(),
});

const deps = { ...wire({ orchestrator: wireOrchestrator() }), stopping: new AbortController().signal };

export const handler = async (given: unknown): Promise<void> => {
  try {
    const found = event.safeParse(given);
    if (!found.success) throw new InvalidInput("not an event as the rule of this stack sends it");
    const { tenant, ...rest } = found.data;
    const runs = await takeEvent(deps, tenant, rest);
    deps.log.info("event taken", { tenant, runs: runs.length });
  } catch (error) {
    deps.log.error("event not taken", { error: error instanceof BatonError ? error.code : "unexpected" });
    throw error;
  }
};
