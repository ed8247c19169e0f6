// The sessions of a tenant, most recently active first. The index only says where to look: what is shown is each
// session's latest snapshot.
import { type SessionStatus, sessionStatus } from "../core/state.ts";
import type { Deps } from "../steps/deps.ts";
import type { Head } from "../store/log.ts";
import type { Page } from "./events.ts";
import { type SessionView, viewSession } from "./session-view.ts";

export type ListOptions = { status?: SessionStatus; key?: string; limit: number; cursor?: string };

/** Rows looked at for one page; beyond it a page may be short and still have a cursor. */
const maxScanned = 500;

/** Throws `InvalidInput` for a cursor that no earlier page gave. */
export async function listSessions(
  deps: Pick<Deps, "store">,
  tenant: string,
  options: ListOptions,
): Promise<Page<SessionView>> {
  const { store } = deps;
  const items: SessionView[] = [];
  let cursor = options.cursor;
  for (let scanned = 0; ; ) {
    const page = await store.statuses.recent(tenant, {
      limit: options.limit - items.length,
      ...(cursor ? { cursor } : {}),
    });
    const rows = page.rows.filter((row) => options.key === undefined || row.key === options.key);
    const heads = await Promise.all(rows.map((row) => store.log.head(tenant, row.sessionId)));
    items.push(...heads.flatMap((head) => (head && fits(head, options) ? [viewSession(head)] : [])));
    cursor = page.cursor;
    scanned += page.rows.length;
    if (!cursor) return { items };
    if (items.length >= options.limit || scanned >= maxScanned) return { items, cursor };
  }
}

function fits(head: Head, options: ListOptions): boolean {
  return options.status === undefined || sessionStatus(head.state) === options.status;
}
