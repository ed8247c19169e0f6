// Approvals in their session's partition (A#<id>). The record is saved under a counter, so of two writers on
// one state exactly one wins; the task token stands beside it, since whoever resumes replaces it at any time.
import { randomUUID } from "node:crypto";
import { parseApprovalId } from "../core/approval/approval-id.ts";
import { dueAt } from "../core/approval/due.ts";
import { mailDueAt, openMails } from "../core/approval/mail-journal.ts";
import type { Approval } from "../core/approval.ts";
import { isDisposition, StoreUnavailable, UnreadableRecord } from "../core/errors.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Clock } from "../ports/clock.ts";
import type { Change, Item, Key, Table, Value } from "../ports/table.ts";
import { canonical, decode, encode } from "./encoding.ts";
import { currentFormat, upcast } from "./formats.ts";
import { approvalPrefix, sessionBlobs, sessionPk } from "./keys.ts";

export type StoredApproval = {
  /** Without its task token. */
  approval: Approval;
  /** Counts saves; the condition of the next one. */
  rev: number;
  /** Settled, written to the log, and the waiting call released: nothing is left but mails. */
  released: boolean;
  /** What releases the execution that waits now. Secret. */
  taskToken?: string;
  /** Session version at which the token's execution owned the turn. */
  tokenAt: number;
};

export interface Approvals {
  /** Strong; null when there is none. */
  get(tenant: string, id: string): Promise<StoredApproval | null>;
  /** Writes the first record, or answers the one that is there. */
  create(approval: Approval): Promise<StoredApproval>;
  /** Replaces the record if it is still the one that was read. "refused": somebody else was first; read again. */
  save(from: StoredApproval, next: { approval: Approval; released?: boolean }): Promise<StoredApproval | "refused">;
  /**
   * Attaches the token of the execution that waits now. "stale": an execution that owned the turn later has attached
   * one already. Answers the record as it stands in the same instant, so a decision before it is seen.
   */
  attach(
    tenant: string,
    id: string,
    token: { taskToken: string; version: number },
  ): Promise<StoredApproval | "missing" | "stale">;
  /** All of one session, in no particular order. */
  ofSession(tenant: string, sessionId: string): Promise<StoredApproval[]>;
  /** Of a tenant, newest first. */
  recent(
    tenant: string,
    options: { limit: number; cursor?: string },
  ): Promise<{ items: StoredApproval[]; cursor?: string }>;
}

const maxAttempts = 5;

export function createApprovals(options: { table: Table; blobs: Blobs; clock: Clock }): Approvals {
  const { table, blobs, clock } = options;

  async function get(tenant: string, id: string): Promise<StoredApproval | null> {
    const key = keyOf(tenant, id);
    const item = key ? await table.get(key) : null;
    return item ? read(item, blobs) : null;
  }

  /** Writes, and after a lost answer looks whether this very write is there. */
  async function settled<T>(write: () => Promise<T>, own: () => Promise<T | null>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        if (!isDisposition(error, "Transient") || attempt >= maxAttempts) throw error;
        await clock.sleep(20 * 2 ** attempt);
        const found = await own();
        if (found !== null) return found;
      }
    }
  }

  return {
    get,
    async create(approval) {
      const key = keyOf(approval.tenant, approval.id);
      if (!key) throw new UnreadableRecord(`approval ${approval.id}: not an id of this tenant`);
      const { attributes } = await encoded(approval, blobs);
      const stored: StoredApproval = { approval, rev: 1, released: false, tokenAt: 0 };
      const due = dueOf(stored);
      const item: Item = {
        ...key,
        format: currentFormat,
        ...attributes,
        rev: 1,
        released: false,
        tokenAt: 0,
        list: `${approval.tenant}#approvals`,
        listAt: `${String(approval.createdAt).padStart(15, "0")}#${approval.id}`,
        ...(due === null ? {} : { due }),
      };
      // A record that is there is this one or another's; the caller looks at what it says, not at who wrote it.
      await settled(
        () => table.put(item, { absent: true }),
        async () => ((await table.get(key)) ? "ok" : null),
      );
      const found = await get(approval.tenant, approval.id);
      if (!found) throw new StoreUnavailable(`approval ${approval.id} was erased while it was written`);
      return found;
    },
    async save(from, next) {
      const { approval } = next;
      const key = keyOf(approval.tenant, approval.id);
      if (!key) throw new UnreadableRecord(`approval ${approval.id}: not an id of this tenant`);
      const writer = randomUUID();
      const released = next.released ?? from.released;
      const rev = from.rev + 1;
      const due = dueOf({ approval, released });
      const { attributes, absent } = await encoded(approval, blobs);
      const change: Change = {
        set: { ...attributes, rev, released, writer, ...(due === null ? {} : { due }) },
        remove: [...absent, ...(due === null ? ["due"] : [])],
      };
      const after = await settled(
        () => table.update(key, change, { rev: from.rev }),
        async () => {
          const found = await table.get(key);
          return found?.writer === writer ? found : null;
        },
      );
      return after === "refused" ? "refused" : read(after, blobs);
    },
    async attach(tenant, id, { taskToken, version }) {
      const key = keyOf(tenant, id);
      if (!key) return "missing";
      for (;;) {
        const found = await table.get(key);
        if (!found) return "missing";
        const tokenAt = Number(found.tokenAt ?? 0);
        if (tokenAt > version) return "stale";
        const after = await settled(
          () => table.update(key, { set: { taskToken, tokenAt: version } }, { tokenAt }),
          async () => {
            const now = await table.get(key);
            return now?.taskToken === taskToken ? now : null;
          },
        );
        if (after !== "refused") return read(after, blobs);
      }
    },
    async ofSession(tenant, sessionId) {
      const items = await table.query({ pk: sessionPk(tenant, sessionId), prefix: approvalPrefix });
      return Promise.all(items.map((item) => read(item, blobs)));
    },
    async recent(tenant, page) {
      const found = await table.recent({ list: `${tenant}#approvals`, ...page });
      const items = await Promise.all(found.items.map((item) => read(item, blobs)));
      return { items, ...(found.cursor ? { cursor: found.cursor } : {}) };
    },
  };
}

/** When the sweeper should look: a time of the rules, a mail to try again, or at once when a decision is to be carried out. */
function dueOf({ approval, released }: Pick<StoredApproval, "approval" | "released">): number | null {
  const mails = openMails(approval).map(({ mark }) => mailDueAt(mark));
  const settled = approval.status !== "pending" && !released ? [approval.settledAt ?? approval.createdAt] : [];
  const next = dueAt(approval);
  const times = [...mails, ...settled, ...(next === null ? [] : [next])];
  return times.length === 0 ? null : Math.min(...times);
}

function keyOf(tenant: string, id: string): Key | null {
  const place = parseApprovalId(id);
  return place?.tenant === tenant ? { pk: sessionPk(tenant, place.sessionId), sk: `${approvalPrefix}${id}` } : null;
}

/** What may be large stands apart, so that a save does not write it anew. */
const large = ["input", "edited"] as const;

async function encoded(
  approval: Approval,
  blobs: Blobs,
): Promise<{ attributes: Record<string, Value>; absent: string[] }> {
  const { taskToken: _secret, input, edited, ...body } = approval;
  const parts = await Promise.all([
    encode("body", canonical(body), sessionBlobs(approval.tenant, approval.sessionId), blobs),
    encode("input", canonical(input), sessionBlobs(approval.tenant, approval.sessionId), blobs),
    edited ? encode("edited", canonical(edited), sessionBlobs(approval.tenant, approval.sessionId), blobs) : {},
  ]);
  const attributes: Record<string, Value> = { ...Object.assign({}, ...parts) };
  const possible = ["body", ...large].flatMap((name) => [name, `${name}Enc`]);
  return { attributes, absent: possible.filter((name) => !(name in attributes)) };
}

async function read(raw: Item, blobs: Blobs): Promise<StoredApproval> {
  const where = `${raw.pk}/${raw.sk}`;
  const item = upcast(raw, where);
  const scope = item.pk.replace("#", "/");
  const [body, input, edited] = await Promise.all([
    decode(item, "body", scope, blobs, where),
    decode(item, "input", scope, blobs, where),
    item.edited === undefined ? undefined : decode(item, "edited", scope, blobs, where),
  ]);
  if (typeof item.rev !== "number" || typeof input !== "string" || typeof body !== "object" || body === null) {
    throw new UnreadableRecord(`${where}: counter, input or body is missing`);
  }
  const approval = { ...body, input, ...(edited === undefined ? {} : { edited }) } as unknown as Approval;
  if (`${approvalPrefix}${approval.id}` !== item.sk || approval.tenant !== item.pk.split("#", 1)[0]) {
    throw new UnreadableRecord(`${where}: the record is of another approval`);
  }
  return {
    approval,
    rev: item.rev,
    released: item.released === true,
    tokenAt: Number(item.tokenAt ?? 0),
    ...(typeof item.taskToken === "string" ? { taskToken: item.taskToken } : {}),
  };
}
