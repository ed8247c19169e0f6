// The real clock. Long sleeps are cut into pieces, since one timer holds at most 2^31-1 ms.
import { setTimeout as timer } from "node:timers/promises";
import type { Clock } from "../ports/clock.ts";

const longestTimerMs = 2 ** 31 - 1;

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    async sleep(ms, signal) {
      for (let left = ms; left > 0; left -= longestTimerMs) {
        await timer(Math.min(left, longestTimerMs), undefined, signal ? { signal } : {});
      }
      signal?.throwIfAborted();
    },
  };
}
