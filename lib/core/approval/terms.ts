// An approval rule as it is frozen in the record: durations in milliseconds, defaults filled in, every
// person once. Kept whole, so that a later and tighter policy can be told from this one.

import { samePerson } from "../approval.ts";
import type { ApprovalRule } from "../define-tool.ts";
import { parseDuration } from "../duration.ts";

export type ApprovalTerms = {
  approvers: string[];
  /** Asked in addition at `escalateAfterMs`; nobody who is an approver already. */
  escalateTo: string[];
  quorum: number;
  expiresInMs: number;
  remindAfterMs?: number;
  escalateAfterMs?: number;
  allowSelf: boolean;
  allowEdit: boolean;
  confirm: "link" | "code" | "signin";
};

/** The terms of a rule that `checkRule` has accepted; throws `InvalidDefinition` on a bad duration. */
export function approvalTerms(rule: ApprovalRule): ApprovalTerms {
  const expiresInMs = parseDuration(rule.expiresIn ?? "3d", "approval.expiresIn");
  const approvers = distinct(rule.approvers);
  const escalateTo = distinct(rule.escalateTo ?? []).filter((email) => !approvers.some((a) => samePerson(a, email)));
  return {
    approvers,
    escalateTo,
    quorum: rule.quorum ?? 1,
    expiresInMs,
    ...(rule.remindAfter === undefined
      ? {}
      : { remindAfterMs: parseDuration(rule.remindAfter, "approval.remindAfter") }),
    ...(escalateTo.length === 0
      ? {}
      : {
          escalateAfterMs:
            rule.escalateAfter === undefined
              ? Math.floor((expiresInMs * 2) / 3)
              : parseDuration(rule.escalateAfter, "approval.escalateAfter"),
        }),
    allowSelf: rule.allowSelf ?? false,
    allowEdit: rule.allowEdit ?? true,
    confirm: rule.confirm ?? "link",
  };
}

function distinct(people: readonly string[]): string[] {
  return people.filter((person, index) => people.findIndex((other) => samePerson(other, person)) === index);
}
