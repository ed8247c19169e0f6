// The live bus of one process. A listener that throws is dropped, so that a watcher never disturbs a step.
import type { Live, LiveMessage } from "../ports/live.ts";

export function createLiveBus(): Live {
  const listeners = new Map<string, Set<(message: LiveMessage) => void>>();
  const keyOf = (tenant: string, sessionId: string): string => `${tenant}#${sessionId}`;
  return {
    publish(tenant, sessionId, message) {
      const set = listeners.get(keyOf(tenant, sessionId));
      for (const listener of set ?? []) {
        try {
          listener(message);
        } catch {
          set?.delete(listener);
        }
      }
    },
    subscribe(tenant, sessionId, listener) {
      const key = keyOf(tenant, sessionId);
      const set = listeners.get(key) ?? new Set();
      listeners.set(key, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0) listeners.delete(key);
      };
    },
  };
}

/** For runtimes without a bus (Lambda): nobody listens in this process. */
export const silentLive: Live = { publish: () => {}, subscribe: () => () => {} };
