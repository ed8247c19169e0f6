// Runs when an execution has ended (EventBridge): goes on with the turn of one that failed, delivers the answer of one
// that succeeded.
import { BatonError } from "../lib/core/errors.ts";
import { afterExecution } from "../lib/recovery/after-execution.ts";
import { readExecutionEvent } from "../lib/recovery/execution-event.ts";
import { once } from "./once.ts";
import { wire } from "./wire.ts";
import { wireApprovals } from "./wire-approvals.ts";
import { wireOrchestrator } from "./wire-orchestrator.ts";

const base = wire({ orchestrator: wireOrchestrator() });
const outside = once(wireApprovals);

export const handler = async (event: unknown): Promise<void> => {
  try {
    const deps = { ...base, ...(await outside()), stopping: new AbortController().signal };
    const ended = readExecutionEvent(event);
    const { recovered, delivered, settled } = await afterExecution(deps, ended);
    base.log.info("execution ended", {
      status: ended.status,
      sessionId: ended.sessionId,
      recovered,
      delivered,
      settled,
    });
  } catch (error) {
    base.log.error("not recovered", { error: error instanceof BatonError ? error.code : "unexpected" });
    throw error;
  }
};
