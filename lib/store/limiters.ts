// Until when a tenant must not ask a model: what one session was told by a 429 holds for all of them. Written only then;
// read at most once a second by a process and model, since a look that comes too late costs one more 429 and no more.
import type { Clock } from "../ports/clock.ts";
import type { Table } from "../ports/table.ts";
import { currentFormat } from "./formats.ts";
import { limiterKey } from "./keys.ts";

export interface Limiters {
  /** Epoch ms until which the model must not be asked; 0: it may be. */
  until(tenant: string, model: string): Promise<number>;
  /** Never shortens what stands. */
  block(tenant: string, model: string, until: number): Promise<void>;
}

const lookAgainMs = 1000;
const maxKnown = 1000;
const maxTries = 20;

export function createLimiters(table: Table, clock: Clock): Limiters {
  const known = new Map<string, { until: number; lookedAt: number }>();

  function remember(name: string, until: number): number {
    known.delete(name);
    known.set(name, { until, lookedAt: clock.now() });
    for (const oldest of known.keys()) {
      if (known.size <= maxKnown) break;
      known.delete(oldest);
    }
    return until;
  }

  return {
    async until(tenant, model) {
      const key = limiterKey(tenant, model);
      const seen = known.get(key.pk);
      const now = clock.now();
      // A clock that stepped back must not make an old look last.
      const fresh = seen !== undefined && now >= seen.lookedAt && now - seen.lookedAt < lookAgainMs;
      if (seen && (fresh || seen.until > now)) return seen.until > now ? seen.until : 0;
      const item = await table.get(key);
      const until = typeof item?.until === "number" ? item.until : 0;
      return remember(key.pk, until) > now ? until : 0;
    },
    async block(tenant, model, until) {
      const key = limiterKey(tenant, model);
      const ttl = Math.ceil(until / 1000) + 60;
      for (let attempt = 0; attempt < maxTries; attempt++) {
        const found = await table.get(key);
        const stands = typeof found?.until === "number" ? found.until : 0;
        if (found && stands >= until) return void remember(key.pk, stands);
        const item = { ...key, format: currentFormat, until, ttl };
        const put = await table.put(item, found ? { equals: { until: found.until } } : { absent: true });
        if (put === "ok") return void remember(key.pk, until);
      }
    },
  };
}
