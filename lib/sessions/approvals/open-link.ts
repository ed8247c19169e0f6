// From a mailed link to the person whose it is. An unknown id and a wrong secret take the same way: the same
// reads, the same comparison, the same count of tries, the same answer.
import { approvalId, parseApprovalId } from "../../core/approval/approval-id.ts";
import type { Approver } from "../../core/approval.ts";
import { secretHash } from "../../steps/ask/link-secret.ts";
import type { Deps } from "../../steps/deps.ts";
import type { StoredApproval } from "../../store/approvals.ts";
import { sameText } from "../../store/same-text.ts";

export type OpenedLink =
  | { kind: "open"; stored: StoredApproval; approver: Approver }
  | { kind: "unknown" }
  | { kind: "too_many" };

const windowMs = 600_000;
/** Wrong tries with one id from one address in a window. */
const maxTries = 20;

/** Stands in for a malformed id, which reads as much as a well-formed one. */
const nowhere = { tenant: "unknown", sessionId: "20000101_000000_00000000", turn: 0, round: 0, index: 0, nth: 0 };

export async function openLink(
  deps: Pick<Deps, "store">,
  link: { id: string; secret: string; address: string },
): Promise<OpenedLink> {
  const place = parseApprovalId(link.id) ?? nowhere;
  const { tenant } = place;
  const attempt = { tenant, what: JSON.stringify(["link", link.id, link.address]), windowMs };
  const [tries, stored] = await Promise.all([
    deps.store.attempts.count(attempt),
    deps.store.approvals.get(tenant, approvalId(place)),
  ]);
  if (tries >= maxTries) return { kind: "too_many" };
  const given = secretHash(link.secret);
  let approver: Approver | null = null;
  for (const person of stored?.approval.approvers ?? [nobody]) {
    if (sameText(person.secretHash, given)) approver = person;
  }
  if (stored && approver) return { kind: "open", stored, approver };
  await deps.store.attempts.add(attempt);
  return { kind: "unknown" };
}

const nobody: Approver = { email: "", secretHash: "", role: "approver" };
