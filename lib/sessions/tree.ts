// The tree of a session, read page by page from its log.
import type { Deps } from "../steps/deps.ts";
import { lastTaken } from "../steps/unread.ts";
import type { Head } from "../store/log.ts";
import { viewApproval } from "./approvals/approval-view.ts";
import { createTreeBuilder } from "./build-tree.ts";
import { iso } from "./outside-units.ts";
import { sessionHead } from "./session-head.ts";
import type { Tree, WaitingMessage } from "./tree-shape.ts";

const pageSize = 200;

/** Throws `NotFound` for an unknown id and for one of another tenant. */
export async function sessionTree(deps: Pick<Deps, "store">, tenant: string, sessionId: string): Promise<Tree> {
  const head = await sessionHead(deps, tenant, sessionId);
  const builder = createTreeBuilder();
  for (let after = 0; after < head.version; ) {
    const page = await deps.store.log.events(tenant, sessionId, after, Math.min(pageSize, head.version - after));
    for (const checkpoint of page) builder.add(checkpoint);
    if (page.length === 0) break;
    after += page.length;
  }
  return withRecords(deps, tenant, { ...builder.build(), waiting: await waitingMessages(deps, head) });
}

/** The inbox, without what a turn has taken and a crash has left there. */
async function waitingMessages(deps: Pick<Deps, "store">, head: Head): Promise<WaitingMessage[]> {
  const taken = new Set((await lastTaken(deps, head)).map((message) => message.messageId));
  const listed = await deps.store.inbox.list(head.tenant, head.sessionId);
  return listed
    .filter((message) => !taken.has(message.messageId))
    .map(({ messageId, at, from, mode }, index) => ({
      messageId,
      at: iso(at),
      user: from.user,
      via: from.via,
      receipt: "queued",
      position: index + 1,
      ...(mode ? { mode } : {}),
    }));
}

/** Open approvals as their records stand: with decisions and edits that the log tells only once they are settled. */
async function withRecords(deps: Pick<Deps, "store">, tenant: string, tree: Tree): Promise<Tree> {
  const approvals = await Promise.all(
    tree.approvals.map(async (open) => {
      const stored = await deps.store.approvals.get(tenant, open.id);
      return stored ? viewApproval(stored.approval, stored.approval.createdAt) : open;
    }),
  );
  return { ...tree, approvals };
}
