// Long-term memory. Runs when an execution has ended (EventBridge) and learns from its turns, and every few minutes
// (EventBridge Scheduler) for whatever that missed. Nobody waits for it.
import { BatonError } from "../lib/core/errors.ts";
import { rememberSession } from "../lib/memory/remember.ts";
import { sweepMemory } from "../lib/memory/sweep-memory.ts";
import { readExecutionEvent } from "../lib/recovery/execution-event.ts";
import { wire } from "./wire.ts";
import { wireModel } from "./wire-model.ts";
import { withEmbeddings } from "./with-embeddings.ts";

const base = withEmbeddings(wire({ model: wireModel() }));
/** Left for what was decided to be written; for one more try of the sweep. */
const stopMarginMs = 10_000;
const sweepMarginMs = 90_000;

export const handler = async (event: object, invocation: { getRemainingTimeInMillis(): number }): Promise<void> => {
  const left = () => invocation.getRemainingTimeInMillis();
  const deps = { ...base, stopping: AbortSignal.timeout(Math.max(0, left() - stopMarginMs)) };
  try {
    if ("detail" in event) {
      await rememberSession(deps, readExecutionEvent(event));
    } else {
      const counts = await sweepMemory(deps, { before: deps.clock.now(), goOn: () => left() > sweepMarginMs });
      if (Object.keys(counts).length > 0) base.log.info("memory swept", counts);
    }
  } catch (error) {
    base.log.error("not remembered", { error: error instanceof BatonError ? error.code : "unexpected" });
    throw error;
  }
};
