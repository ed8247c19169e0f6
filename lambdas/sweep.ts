// Runs every minute (EventBridge Scheduler): whatever is due and was not done. Bounded by the time of one run; the next
// one goes on where this had to stop.
import { sweepAll } from "../lib/recovery/sweep-all.ts";
import { once } from "./once.ts";
import { wire } from "./wire.ts";
import { wireApprovals } from "./wire-approvals.ts";
import { wireOrchestrator } from "./wire-orchestrator.ts";

const base = wire({ orchestrator: wireOrchestrator() });
const outside = once(wireApprovals);
/** For one page of rows: a receiver may take 10 s. */
const marginMs = 30_000;
let from: string | undefined;

export const handler = async (_event: unknown, invocation: { getRemainingTimeInMillis(): number }): Promise<void> => {
  const deps = { ...base, ...(await outside()), stopping: new AbortController().signal };
  const now = deps.clock.now();
  const { counts, cursor } = await sweepAll(deps, {
    before: now,
    cause: "stuck",
    slot: String(now),
    goOn: () => invocation.getRemainingTimeInMillis() > marginMs,
    ...(from === undefined ? {} : { from }),
  });
  from = cursor;
  if (Object.keys(counts).length > 0) base.log.info("swept", counts);
};
