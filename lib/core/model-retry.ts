// When a model that refused for now is asked again. Pure; the machine waits, nobody pays for it.

/** Longest time that is waited because a server said so: whatever is longer is looked at again after it. */
const maxRetryAfterMs = 24 * 3_600_000;
const maxBackOffMs = 60_000;

/**
 * Milliseconds until try number `attempt` + 1. The server's own word is the least that is waited (RFC 9110, 10.2.3); our
 * back-off doubles from one second to one minute. A word that makes no sense (not finite, negative) is no word.
 */
export function retryDelayMs(failure: { attempt: number; retryAfterMs?: number | undefined }): number {
  const backOff = Math.min(maxBackOffMs, 1000 * 2 ** Math.max(0, failure.attempt - 1));
  const said = failure.retryAfterMs ?? 0;
  return Number.isFinite(said) ? Math.max(backOff, Math.min(said, maxRetryAfterMs)) : backOff;
}
