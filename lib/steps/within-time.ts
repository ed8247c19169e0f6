// A time limit for a model call that nobody watches: one that hangs costs a try and not the work around it (H48).
import { ModelUnavailable } from "../core/errors.ts";
import type { Deps } from "./deps.ts";

/** The answer of `ask`; throws `ModelUnavailable` after `timeoutMs`, and aborts then and when the process must stop. */
export async function withinTime<T>(
  deps: Pick<Deps, "clock" | "stopping">,
  limit: { timeoutMs: number; who: string },
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeoutMs = Math.max(0, limit.timeoutMs);
  const timer = new AbortController();
  const abort = new AbortController();
  const timeout = deps.clock.sleep(timeoutMs, timer.signal).then(() => {
    const error = new ModelUnavailable(`${limit.who} did not answer within ${Math.round(timeoutMs / 1000)} s`);
    abort.abort(error);
    throw error;
  });
  // When the model wins, the timer is cancelled; that rejection is of no interest.
  timeout.catch(() => {});
  try {
    return await Promise.race([ask(AbortSignal.any([abort.signal, deps.stopping])), timeout]);
  } finally {
    timer.abort();
  }
}
