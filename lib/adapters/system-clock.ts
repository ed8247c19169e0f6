// The real clock. Long sleeps are cut into pieces, since one timer holds at most 2^31-1 ms. Not node:timers/promises:
// each tool call cancels a timer, and the AbortError made for it, with its stack, costs more than the timer.
import type { Clock } from "../ports/clock.ts";

const longestTimerMs = 2 ** 31 - 1;

export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      for (let left = ms; left > 0; left -= longestTimerMs) await pause(Math.min(left, longestTimerMs), signal);
    },
  };
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
