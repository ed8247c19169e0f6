// The one notice that a user gets of a reset, with its true reason: in the answer to the first message that the new
// session accepts. A repeat of that request gets it again, nobody else does.
import type { FreshReason } from "../core/event.ts";
import type { Deps } from "../steps/deps.ts";
import { sha256 } from "../store/encoding.ts";
import type { Head } from "../store/log.ts";

export type Notice = { kind: "session_reset"; reason: FreshReason; parent: string };

/** Later it is no news; shorter than the record of who was told is kept. */
const newsMs = 7 * 86_400_000;

/** What the message is to be told; undefined for all but the first. */
export async function resetNotice(deps: Deps, head: Head, messageId: string): Promise<Notice | undefined> {
  const { parent, fork, createdAt } = head.state;
  if (!parent || fork || deps.clock.now() - createdAt >= newsMs) return undefined;
  const id = `notice:${head.sessionId}`;
  const known = await deps.store.once.get(head.tenant, id);
  const record = known ?? (await deps.store.once.claim(head.tenant, id, sha256("notice"), { messageId })).record;
  if ((record.result as { messageId?: string }).messageId !== messageId) return undefined;
  const first = await deps.store.log.at(head.tenant, head.sessionId, 1);
  if (first?.event.type !== "session.created") return undefined;
  return { kind: "session_reset", reason: first.event.reason, parent: parent.sessionId };
}
