// The mutable projection of a session for lists and the sweeper. Written per turn, never decides: whoever
// acts on it reads the log's head first.
import type { SessionState } from "../core/state.ts";
import { sessionStatus } from "../core/state.ts";
import type { Change, Item, Key, Table, Value } from "../ports/table.ts";
import { currentFormat } from "./formats.ts";
import { sessionPk, statusSk, unescapePart } from "./keys.ts";

export type SessionRow = { sessionId: string; key: string; status: string; at: number };
export type DueRow = { tenant: string; sk: string; id: string; due: number };

export interface Statuses {
  /**
   * Projects `state`; `due`: when the sweeper should look at it. Without it what another asked the sweeper for is lost:
   * where others may write, say so by `rest`.
   */
  write(state: SessionState, version: number, at: number, due?: number): Promise<void>;
  /** What the projection stands at, for `rest`; ask before looking whether anything is left to do. */
  seen(tenant: string, sessionId: string): Promise<number>;
  /** Nothing is left to do: the sweeper need not look. Does nothing when anybody has written since `seen`. */
  rest(state: SessionState, version: number, at: number, seen: number): Promise<void>;
  /** Sessions of a tenant, most recently active first. */
  recent(tenant: string, options: { limit: number; cursor?: string }): Promise<{ rows: SessionRow[]; cursor?: string }>;
  /** What the sweeper should look at, over all tenants: sessions, approvals, task slots. */
  due(before: number, options?: { limit?: number; cursor?: string }): Promise<{ rows: DueRow[]; cursor?: string }>;
  remove(tenant: string, sessionId: string): Promise<void>;
}

export function createStatuses(table: Table): Statuses {
  const keyOf = (tenant: string, sessionId: string): Key => ({ pk: sessionPk(tenant, sessionId), sk: statusSk });

  return {
    async write(state, version, at, due) {
      const key = keyOf(state.tenant, state.sessionId);
      const set = { ...projection(state, version, at), ...(due === undefined ? {} : { due }) };
      const change: Change = { set, add: { rev: 1 }, ...(due === undefined ? { remove: ["due"] } : {}) };
      while ((await table.update(key, change)) === "refused") {
        if ((await table.put({ ...key, ...set, rev: 1 }, { absent: true })) === "ok") return;
      }
    },
    async seen(tenant, sessionId) {
      const item = await table.get(keyOf(tenant, sessionId));
      return Number(item?.rev ?? 0);
    },
    async rest(state, version, at, seen) {
      const key = keyOf(state.tenant, state.sessionId);
      const set = projection(state, version, at);
      if (seen === 0) await table.put({ ...key, ...set, rev: 1 }, { absent: true });
      else await table.update(key, { set, add: { rev: 1 }, remove: ["due"] }, { rev: seen });
    },
    async recent(tenant, options) {
      const page = await table.recent({ list: `${tenant}#sessions`, ...options });
      return { rows: page.items.map(toRow), ...(page.cursor ? { cursor: page.cursor } : {}) };
    },
    async due(before, options = {}) {
      const page = await table.due({ before, ...options });
      const rows = page.items.map((item) => {
        const [tenant = "", rest = ""] = item.pk.split("#", 2);
        return { tenant, sk: item.sk, id: unescapePart(rest), due: Number(item.due) };
      });
      return { rows, ...(page.cursor ? { cursor: page.cursor } : {}) };
    },
    async remove(tenant, sessionId) {
      await table.remove({ pk: sessionPk(tenant, sessionId), sk: statusSk });
    },
  };
}

function projection(state: SessionState, version: number, at: number): Record<string, Value> {
  return {
    format: currentFormat,
    sessionId: state.sessionId,
    key: state.key,
    status: sessionStatus(state),
    version,
    at,
    list: `${state.tenant}#sessions`,
    listAt: `${String(at).padStart(15, "0")}#${state.sessionId}`,
  };
}

function toRow(item: Item): SessionRow {
  return { sessionId: String(item.sessionId), key: String(item.key), status: String(item.status), at: Number(item.at) };
}
