// Callback tasks of the embedded interpreter: a token is good for one release, until its time is over, as on AWS.
import { randomBytes } from "node:crypto";

export type Callbacks = {
  /** A new token: 256 random bits, so that nobody can guess one. */
  token(): string;
  /**
   * Waits for `release(token)`. Rejects with an error named States.Timeout after `timeoutMs` (below 2^31), or with
   * the reason given to `close`.
   */
  wait(token: string, timeoutMs: number): Promise<unknown>;
  /** False: no such token, or no longer. */
  release(token: string, output: unknown): boolean;
  /** Forgets a token that nobody waits for any more. */
  drop(token: string): void;
  /** Ends every wait with `reason`. */
  close(reason: Error): void;
};

export function createCallbacks(): Callbacks {
  type Waiter = { resolve: (output: unknown) => void; reject: (reason: Error) => void; timer: NodeJS.Timeout };
  const waiting = new Map<string, Waiter>();

  function take(token: string): Waiter | undefined {
    const waiter = waiting.get(token);
    waiting.delete(token);
    clearTimeout(waiter?.timer);
    return waiter;
  }

  return {
    token: () => randomBytes(32).toString("base64url"),
    wait(token, timeoutMs) {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const timer = setTimeout(() => take(token)?.reject(timedOut()), timeoutMs).unref();
      waiting.set(token, { resolve, reject, timer });
      // It may be rejected while its handler still runs and nobody looks yet.
      promise.catch(() => {});
      return promise;
    },
    release(token, output) {
      const waiter = take(token);
      waiter?.resolve(output);
      return waiter !== undefined;
    },
    drop: (token) => void take(token),
    close(reason) {
      for (const token of [...waiting.keys()]) take(token)?.reject(reason);
    },
  };
}

function timedOut(): Error {
  const error = new Error("no answer in time");
  error.name = "States.Timeout";
  return error;
}
