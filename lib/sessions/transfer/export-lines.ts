// A session as JSON lines, one record a line: a header, its checkpoints with their hash chain, its approvals, an
// end. Snapshots are left out: replaying the events gives them again. No secrets: task tokens and hashes of link
// secrets stay behind.
import type { Approval } from "../../core/approval.ts";
import type { Event } from "../../core/event.ts";
import type { Deps } from "../../steps/deps.ts";
import { canonical } from "../../store/encoding.ts";
import { sessionHead } from "../session-head.ts";

export type HeaderLine = {
  type: "baton.session";
  format: 1;
  tenant: string;
  sessionId: string;
  key: string;
  versions: number;
};
export type CheckpointLine = {
  type: "checkpoint";
  sessionId: string;
  version: number;
  /** Epoch milliseconds. */
  at: number;
  writer: string;
  prevHash: string;
  hash: string;
  event: Event;
};
export type ApprovalLine = { type: "approval"; sessionId: string; approval: unknown };
export type EndLine = { type: "end"; sessionId: string; versions: number; hash: string };
export type ExportLine = HeaderLine | CheckpointLine | ApprovalLine | EndLine;

const pageSize = 100;

/** Lines with their line feed, read page by page. Throws `NotFound` before the first line for an unknown id. */
export async function* exportLines(
  deps: Pick<Deps, "store">,
  tenant: string,
  sessionId: string,
): AsyncIterable<string> {
  const head = await sessionHead(deps, tenant, sessionId);
  const { log, approvals } = deps.store;
  yield line({ type: "baton.session", format: 1, tenant, sessionId, key: head.state.key, versions: head.version });
  for (let after = 0; after < head.version; ) {
    const page = await log.events(tenant, sessionId, after, Math.min(pageSize, head.version - after));
    if (page.length === 0) break;
    for (const { version, at, writer, prevHash, hash, event } of page) {
      yield line({ type: "checkpoint", sessionId, version, at, writer, prevHash, hash, event });
    }
    after += page.length;
  }
  for (const { approval } of await approvals.ofSession(tenant, sessionId)) {
    yield line({ type: "approval", sessionId, approval: withoutSecrets(approval) });
  }
  yield line({ type: "end", sessionId, versions: head.version, hash: head.hash });
}

function line(record: ExportLine): string {
  return `${canonical(record)}\n`;
}

function withoutSecrets(approval: Approval): unknown {
  const { taskToken: _token, approvers, ...rest } = approval;
  return { ...rest, approvers: approvers.map(({ secretHash: _hash, ...approver }) => approver) };
}
