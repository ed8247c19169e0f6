// The tenant-wide stop. A mark first: from then on no message is accepted and no turn starts. Then every session with
// work is stopped like one by one. The mark stands until it is lifted; stopped sessions stay suspended: a message starts
// a clean one with their handoff record, /resume goes on with one.
import { isDisposition } from "../core/errors.ts";
import type { Deps } from "../steps/deps.ts";
import type { TenantStop } from "../store/stops.ts";
import { stopSession } from "./control.ts";

export type StoppedTenant = TenantStop & { /** Sessions that this request has stopped. */ stopped: number };

/** The list lags a little behind: what was active this long ago is looked at, whatever the list says of it. */
const recentlyMs = 10 * 60_000;
const pageSize = 100;

/** Again is harmless: it stops what has slipped through. What the list does not show yet is left to the sweeper. */
export async function stopTenant(
  deps: Deps,
  by: { tenant: string; user: string },
  options: { reason?: string } = {},
): Promise<StoppedTenant> {
  const { tenant, user } = by;
  const now = deps.clock.now();
  const stop = await deps.store.stops.set(tenant, { reason: options.reason ?? `by ${user}`, by: user, at: now });
  let stopped = 0;
  let cursor: string | undefined;
  do {
    const page = await deps.store.statuses.recent(tenant, { limit: pageSize, ...(cursor ? { cursor } : {}) });
    for (const row of page.rows) {
      const may = row.status === "running" || row.status === "paused" || now - row.at < recentlyMs;
      if (may && (await stopOne(deps, { tenant, sessionId: row.sessionId, user }, stop.reason))) stopped++;
    }
    cursor = page.cursor;
  } while (cursor);
  deps.log.warn("tenant stopped", { tenant, stopped });
  return { ...stop, stopped };
}

export async function liftTenantStop(deps: Deps, tenant: string): Promise<void> {
  await deps.store.stops.lift(tenant);
}

/** Only a session that works, or has work waiting: an idle one is not touched. */
async function stopOne(
  deps: Deps,
  at: { tenant: string; sessionId: string; user: string },
  reason: string,
): Promise<boolean> {
  const head = await deps.store.log.head(at.tenant, at.sessionId);
  if (head?.state.lifecycle.kind !== "open" || head.state.turn?.stop?.thenSuspend) return false;
  const waiting = await deps.store.inbox.list(at.tenant, at.sessionId, { limit: 1 });
  if (!head.state.turn && waiting.length === 0) return false;
  try {
    await stopSession(deps, at, { reason });
    return true;
  } catch (error) {
    // Closed meanwhile.
    if (!isDisposition(error, "Misuse")) throw error;
    return false;
  }
}
