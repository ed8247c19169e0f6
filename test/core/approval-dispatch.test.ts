import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decide } from "../../lib/core/approval/decide.ts";
import { checkAtDispatch, type Dispatch } from "../../lib/core/approval/dispatch.ts";
import { approvalTerms } from "../../lib/core/approval/terms.ts";
import { type Approval, approvalHash, freezeApproval } from "../../lib/core/approval.ts";
import type { ApprovalRule } from "../../lib/core/define-tool.ts";

const t0 = 1_790_000_000_000;
const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const rule: ApprovalRule = { approvers: ["ann@bank.example", "bob@bank.example"], expiresIn: "3h" };
const call = {
  tenant: "acme",
  sessionId: "20260505_143022_a1b2c3d4",
  turn: 1,
  round: 1,
  index: 0,
  tool: "submit_report",
  toolVersion: "1",
  input: '{"to":"a"}',
};
const hashOf = (input: string) => approvalHash({ ...call, input }, hash);

function approved(edited?: string): Approval {
  const fresh = freezeApproval({
    id: "ap1",
    kind: "call",
    call,
    requestedBy: "rita",
    terms: approvalTerms(rule),
    secretHash: hash,
    hash,
    now: t0,
  });
  const edit = edited && { input: edited, inputHash: hashOf(edited), confirmedHash: hashOf(edited) };
  const request = { by: "ann@bank.example", decision: "approve", via: "link", shownHash: fresh.inputHash } as const;
  return decide(fresh, { ...request, ...(edit ? { edit } : {}) }, t0 + 1).approval;
}

function dispatch(more: Partial<Dispatch> = {}): Dispatch {
  return {
    tool: "submit_report",
    toolVersion: "1",
    inputHash: hashOf(call.input),
    rule: approvalTerms(rule),
    now: t0 + 2,
    ...more,
  };
}

describe("checkAtDispatch", () => {
  it("lets exactly what was approved run (G9)", () => {
    expect(checkAtDispatch(approved(), dispatch())).toBe("ok");
    expect(checkAtDispatch(approved(), dispatch({ rule: null }))).toBe("ok");
  });

  it("runs the changed arguments, and no longer the first ones", () => {
    const edited = approved('{"to":"b"}');
    expect(checkAtDispatch(edited, dispatch({ inputHash: hashOf('{"to":"b"}') }))).toBe("ok");
    expect(checkAtDispatch(edited, dispatch())).toEqual({ askAgain: "the arguments are not those approved" });
  });

  const tighter = (more: Partial<ApprovalRule>) => ({ rule: approvalTerms({ ...rule, ...more }) });
  const differences: [string, Partial<Dispatch>, string][] = [
    ["other arguments", { inputHash: hashOf('{"to":"c"}') }, "the arguments are not those approved"],
    ["the tool is gone", { tool: null }, "the tool submit_report is gone"],
    ["another tool", { tool: "pay" }, "approved for submit_report, not for pay"],
    ["another version", { toolVersion: "2" }, "approved for version 1 of the tool, which is now 2"],
    ["it expired meanwhile", { now: t0 + 3 * 3_600_000 }, "the approval has expired"],
    [
      "a shorter expiry",
      { ...tighter({ expiresIn: "1h" }), now: t0 + 3_600_000 },
      "the policy lets approvals expire sooner now",
    ],
    ["a higher quorum", tighter({ quorum: 2 }), "1 of 2 approvals satisfy today's policy"],
    [
      "the approver was removed",
      tighter({ approvers: ["bob@bank.example"] }),
      "0 of 1 approvals satisfy today's policy",
    ],
    ["signing in is needed now", tighter({ confirm: "signin" }), "0 of 1 approvals satisfy today's policy"],
  ];
  for (const [what, change, reason] of differences) {
    it(`asks again: ${what} (H70)`, () => {
      expect(checkAtDispatch(approved(), dispatch(change))).toEqual({ askAgain: reason });
    });
  }

  it("asks again when edits are no longer allowed (H70)", () => {
    const change = { inputHash: hashOf('{"to":"b"}'), ...tighter({ allowEdit: false }) };
    expect(checkAtDispatch(approved('{"to":"b"}'), dispatch(change))).toEqual({
      askAgain: "the policy no longer lets approvers change arguments",
    });
  });

  it("asks again when own approvals no longer count (H70)", () => {
    const own = { ...approved(), requestedBy: "ann@bank.example" };
    expect(checkAtDispatch(own, dispatch(tighter({ allowSelf: true })))).toBe("ok");
    expect(checkAtDispatch(own, dispatch())).toEqual({ askAgain: "0 of 1 approvals satisfy today's policy" });
  });

  it("runs nothing that is not approved", () => {
    for (const status of ["pending", "rejected", "expired", "cancelled"] as const) {
      expect(checkAtDispatch({ ...approved(), status }, dispatch())).toEqual({ askAgain: `the approval is ${status}` });
    }
    expect(checkAtDispatch({ ...approved(), kind: "in_doubt" }, dispatch())).toEqual({
      askAgain: "an in-doubt answer is no approval to run",
    });
  });
});
