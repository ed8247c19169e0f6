// The stable address of a conversation -> its current session. The swap is conditional, so two first
// messages in the same instant make one session. The pointer's TTL is the idle auto-reset; LAST never
// expires and keeps the lineage and the true reason.
import { UnreadableRecord } from "../core/errors.ts";
import type { Table } from "../ports/table.ts";
import { currentFormat, upcast } from "./formats.ts";
import { lastKey, pointerKey } from "./keys.ts";

/** `expired`: the pointer itself is gone (idle), only the lineage is left. */
export type Pointer = { sessionId: string; lastUserAt: number; expired: boolean };

export interface Pointers {
  /** Strong; null when the key was never used. */
  get(tenant: string, key: string): Promise<Pointer | null>;
  /**
   * Points `key` to `next` if it still points to `from` (null: to nothing). "refused": somebody else was first;
   * read again.
   */
  swap(
    tenant: string,
    key: string,
    from: Pointer | null,
    next: { sessionId: string; lastUserAt: number; expiresAt?: number },
  ): Promise<"ok" | "refused">;
  /** Records user activity on the current session and moves the expiry. Never called by recovery or delivery. */
  touch(tenant: string, key: string, sessionId: string, lastUserAt: number, expiresAt?: number): Promise<void>;
  remove(tenant: string, key: string, sessionId: string): Promise<void>;
}

export function createPointers(table: Table): Pointers {
  return {
    async get(tenant, key) {
      const item = await table.get(pointerKey(tenant, key));
      const found = item ?? (await table.get(lastKey(tenant, key)));
      if (!found) return null;
      const { sessionId, lastUserAt } = upcast(found, `pointer of ${key}`);
      if (typeof sessionId !== "string" || typeof lastUserAt !== "number") {
        throw new UnreadableRecord(`pointer of ${key}: session or time is missing`);
      }
      return { sessionId, lastUserAt, expired: item === null };
    },
    async swap(tenant, key, from, next) {
      const item = {
        ...pointerKey(tenant, key),
        format: currentFormat,
        sessionId: next.sessionId,
        lastUserAt: next.lastUserAt,
        ...(next.expiresAt === undefined ? {} : { ttl: Math.ceil(next.expiresAt / 1000) }),
      };
      // LAST first: were it second, a crash between would leave a pointer whose lineage is lost on expiry.
      const last = { ...item, ...lastKey(tenant, key), ttl: undefined };
      const moved = await table.put(last, from ? { equals: { sessionId: from.sessionId } } : { absent: true });
      const known = moved === "ok" ? null : await table.get(lastKey(tenant, key));
      if (moved === "refused" && known?.sessionId !== next.sessionId) return "refused";
      await table.put(item);
      return "ok";
    },
    async touch(tenant, key, sessionId, lastUserAt, expiresAt) {
      const ttl = expiresAt === undefined ? undefined : Math.ceil(expiresAt / 1000);
      const change = {
        set: { lastUserAt, ...(ttl === undefined ? {} : { ttl }) },
        ...(ttl === undefined ? { remove: ["ttl"] } : {}),
      };
      const updated = await table.update(pointerKey(tenant, key), change, { sessionId });
      if (updated === "refused" && (await table.get(pointerKey(tenant, key))) === null) {
        const last = await table.get(lastKey(tenant, key));
        if (last?.sessionId === sessionId) {
          await table.put({
            ...pointerKey(tenant, key),
            format: currentFormat,
            sessionId,
            lastUserAt,
            ...(ttl === undefined ? {} : { ttl }),
          });
        }
      }
      await table.update(lastKey(tenant, key), { set: { lastUserAt } }, { sessionId });
    },
    async remove(tenant, key, sessionId) {
      await table.remove(pointerKey(tenant, key), { sessionId });
      await table.remove(lastKey(tenant, key), { sessionId });
    },
  };
}
