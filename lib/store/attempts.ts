// Counting tries within a window of time, so that guessing stays slow whichever instance is asked. Counts only:
// they limit load and guessing, they decide nothing else.
import type { Table } from "../ports/table.ts";
import { sha256 } from "./encoding.ts";
import { currentFormat } from "./formats.ts";
import { attemptsKey } from "./keys.ts";

/** `what` is hashed: it may hold an address. */
export type Attempt = { tenant: string; what: string; windowMs: number };

export interface Attempts {
  /** Tries counted in the window of now. */
  count(attempt: Attempt): Promise<number>;
  /** Counts one; answers how many there are now. */
  add(attempt: Attempt): Promise<number>;
}

export function createAttempts(table: Table, now: () => number): Attempts {
  function keyOf({ tenant, what, windowMs }: Attempt) {
    return attemptsKey(tenant, sha256(what), Math.floor(now() / windowMs));
  }
  return {
    async count(attempt) {
      const item = await table.get(keyOf(attempt));
      return typeof item?.tries === "number" ? item.tries : 0;
    },
    async add(attempt) {
      const key = keyOf(attempt);
      const ttl = Math.ceil((now() + 2 * attempt.windowMs) / 1000);
      for (;;) {
        const after = await table.update(key, { add: { tries: 1 } });
        if (after !== "refused") return Number(after.tries);
        if ((await table.put({ ...key, format: currentFormat, tries: 1, ttl }, { absent: true })) === "ok") return 1;
      }
    },
  };
}
