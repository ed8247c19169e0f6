// The mark by which a person stops all work of a tenant. While it stands nothing starts; it never expires, somebody
// lifts it.
import { UnreadableRecord } from "../core/errors.ts";
import type { Table } from "../ports/table.ts";
import { currentFormat, upcast } from "./formats.ts";
import { stopKey } from "./keys.ts";

export type TenantStop = {
  reason: string;
  by: string;
  /** Epoch milliseconds. */
  at: number;
};

export interface Stops {
  /** Strong; null when the tenant may work. */
  get(tenant: string): Promise<TenantStop | null>;
  /** Sets the mark, or answers the one that stands. */
  set(tenant: string, stop: TenantStop): Promise<TenantStop>;
  /** Lifting what is not there is fine. */
  lift(tenant: string): Promise<void>;
}

export function createStops(table: Table): Stops {
  async function get(tenant: string): Promise<TenantStop | null> {
    const raw = await table.get(stopKey(tenant));
    if (!raw) return null;
    const { reason, by, at } = upcast(raw, "stop of the tenant");
    if (typeof reason !== "string" || typeof by !== "string" || typeof at !== "number") {
      throw new UnreadableRecord("stop of the tenant: reason, person or time is missing");
    }
    return { reason, by, at };
  }
  return {
    get,
    async set(tenant, stop) {
      await table.put({ ...stopKey(tenant), format: currentFormat, ...stop }, { absent: true });
      return (await get(tenant)) ?? stop;
    },
    async lift(tenant) {
      await table.remove(stopKey(tenant));
    },
  };
}
