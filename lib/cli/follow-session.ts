// The live stream of a session over as many connections as it takes: a runtime may be killed and started again
// meanwhile. Stopping to watch never stops the session.
import { setTimeout as sleep } from "node:timers/promises";
import { NoRuntime, ProblemError, Unreachable } from "./cli-errors.ts";
import type { Client } from "./client.ts";
import type { StreamItem } from "./open-stream.ts";

const pauseMs = 300;
/** How long a runtime may be away before following it is given up. */
const patienceMs = 60_000;

export type SessionItem =
  | Exclude<StreamItem, { kind: "open" }>
  /** Text that came meanwhile is missing; events are not. */
  | { kind: "reconnected" };

export type FollowOptions = {
  client: Client;
  sessionId: string;
  after: number;
  signal: AbortSignal;
  /** Said once when the connection is lost, and once when it is back. */
  say: (text: string) => void;
};

/** The stream from a version on, over restarts of the runtime; misses and repeats no event. Ends when `signal` aborts. */
export async function* followSession(options: FollowOptions): AsyncIterable<SessionItem> {
  const { client, sessionId, signal, say } = options;
  let after = options.after;
  let lostAt = 0;
  while (!signal.aborted) {
    try {
      for await (const item of client.stream(sessionId, after, signal)) {
        if (item.kind === "event") after = item.event.version;
        if (item.kind !== "open") yield item;
        else if (lostAt > 0) {
          say("the runtime is back; going on");
          lostAt = 0;
          yield { kind: "reconnected" };
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      const passing =
        error instanceof Unreachable ||
        error instanceof NoRuntime ||
        (error instanceof ProblemError && error.problem.status === 503);
      if (!passing || (lostAt > 0 && Date.now() - lostAt > patienceMs)) throw error;
    }
    if (signal.aborted) return;
    if (lostAt === 0) {
      say("the connection to the runtime is lost; the session is safe, waiting for it to come back");
      lostAt = Date.now();
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
}
