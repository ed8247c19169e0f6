// A clock that tests own. Time moves only by `advance`, except for short back-offs, which would otherwise hang a
// test that does not care about them.
import type { Clock } from "../ports/clock.ts";

export type FakeClock = Clock & {
  /** Moves time and wakes every sleeper whose time has come, earliest first. */
  advance(ms: number): Promise<void>;
  /** Sets the time without waking anybody: a clock that steps, also back. */
  set(at: number): void;
  /** Sleepers now. */
  sleeping(): number;
};

type Sleeper = { at: number; wake: () => void };

/**
 * @param options.start epoch milliseconds; default 2026-11-30T12:00:00Z
 * @param options.autoUnderMs sleeps of at most this long pass at once and move the clock; default 5000
 */
export function fakeClock(options: { start?: number; autoUnderMs?: number } = {}): FakeClock {
  let now = options.start ?? 1_796_040_000_000;
  const autoUnderMs = options.autoUnderMs ?? 5000;
  const sleepers = new Set<Sleeper>();
  return {
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      if (ms <= autoUnderMs) {
        now += ms;
        return;
      }
      await new Promise<void>((resolve, reject) => {
        const sleeper = { at: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      });
    },
    async advance(ms) {
      const until = now + ms;
      for (;;) {
        const next = [...sleepers].filter((sleeper) => sleeper.at <= until).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        now = Math.max(now, next.at);
        sleepers.delete(next);
        next.wake();
        // Whoever was woken may sleep again within this advance.
        await new Promise((resolve) => setImmediate(resolve));
      }
      now = until;
    },
    set(at) {
      now = at;
    },
    sleeping: () => sleepers.size,
  };
}
