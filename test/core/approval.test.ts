import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { cancel, canReachQuorum, type DecisionRequest, decide, expire } from "../../lib/core/approval/decide.ts";
import { dueAt, dueNow, escalated, recipients, reminded } from "../../lib/core/approval/due.ts";
import { approvalTerms } from "../../lib/core/approval/terms.ts";
import { type Approval, approvalHash, currentInput, freezeApproval, statusAt } from "../../lib/core/approval.ts";
import type { ApprovalRule } from "../../lib/core/define-tool.ts";

const hour = 3_600_000;
const t0 = 1_790_000_000_000;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const call = {
  tenant: "acme",
  sessionId: "20260505_143022_a1b2c3d4",
  turn: 1,
  round: 2,
  index: 0,
  tool: "submit_report",
  toolVersion: "1",
  input: '{"amountCents":100,"caseId":"A"}',
};

function pending(rule: Partial<ApprovalRule> = {}, more: Partial<Approval> = {}): Approval {
  const terms = approvalTerms({ approvers: ["ann@bank.example", "bob@bank.example"], ...rule });
  return {
    ...freezeApproval({
      id: "ap1",
      kind: "call",
      call,
      requestedBy: "rita@bank.example",
      terms,
      secretHash: (email) => sha256(`secret of ${email}`),
      hash: sha256,
      now: t0,
    }),
    ...more,
  };
}

function by(person: string, approval: Approval, more: Partial<DecisionRequest> = {}): DecisionRequest {
  return {
    by: `${person}@bank.example`,
    decision: "approve",
    via: "link",
    shownHash: currentInput(approval).inputHash,
    ...more,
  };
}

function edit(input: string, confirmed = true): NonNullable<DecisionRequest["edit"]> {
  const inputHash = approvalHash({ ...call, input }, sha256);
  return { input, inputHash, ...(confirmed ? { confirmedHash: inputHash } : {}) };
}

describe("freezeApproval", () => {
  it("normalises the rule to milliseconds and names every person once", () => {
    const approval = pending({
      approvers: ["ann@bank.example", "Ann@Bank.Example", "bob@bank.example"],
      escalateTo: ["BOB@bank.example", "head@bank.example"],
      remindAfter: "1d",
    });
    expect(approval.terms).toEqual({
      approvers: ["ann@bank.example", "bob@bank.example"],
      escalateTo: ["head@bank.example"],
      quorum: 1,
      expiresInMs: 72 * hour,
      remindAfterMs: 24 * hour,
      escalateAfterMs: 48 * hour,
      allowSelf: false,
      allowEdit: true,
      confirm: "link",
    });
    expect(approval).toMatchObject({
      format: 1,
      status: "pending",
      expiresAt: t0 + 72 * hour,
      remindAt: t0 + 24 * hour,
      escalateAt: t0 + 48 * hour,
      approvers: [
        { email: "ann@bank.example", role: "approver" },
        { email: "bob@bank.example", role: "approver" },
        { email: "head@bank.example", role: "escalation" },
      ],
    });
  });

  it("gives each person another secret's hash", () => {
    expect(new Set(pending().approvers.map((person) => person.secretHash)).size).toBe(2);
  });

  it("hashes tenant, session, tool, version and input apart (G9)", () => {
    const parts = { tenant: "a", sessionId: "b", tool: "c", toolVersion: "d", input: "{}" };
    const hashes = [
      parts,
      { ...parts, tenant: "ab", sessionId: "" },
      { ...parts, tool: "cd", toolVersion: "" },
      { ...parts, toolVersion: '","', input: "" },
      { ...parts, input: '{"a":1}' },
    ].map((one) => approvalHash(one, sha256));
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

describe("decide", () => {
  it("settles with the only approval needed", () => {
    const approval = pending();
    const outcome = decide(approval, by("ann", approval, { comment: "fine", address: "10.0.0.1" }), t0 + hour);
    expect(outcome).toEqual({
      kind: "settled",
      reason: "approved",
      approval: {
        ...approval,
        status: "approved",
        settledAt: t0 + hour,
        decisions: [
          {
            by: "ann@bank.example",
            decision: "approve",
            at: t0 + hour,
            comment: "fine",
            via: "link",
            address: "10.0.0.1",
            inputHash: approval.inputHash,
          },
        ],
      },
    });
  });

  it("waits for the quorum, and counts a person once", () => {
    const approval = pending({ quorum: 2 });
    const first = decide(approval, by("ann", approval), t0 + 1);
    expect(first.kind).toBe("recorded");
    const again = decide(first.approval, by("ANN", approval, { by: " ANN@bank.example" }), t0 + 2);
    expect(again).toEqual({ kind: "already", reason: "decided", approval: first.approval });
    const second = decide(first.approval, by("bob", approval), t0 + 3);
    expect([second.kind, second.approval.status]).toEqual(["settled", "approved"]);
  });

  it("takes one rejection as a veto", () => {
    const approval = pending({ quorum: 2 });
    const first = decide(approval, by("ann", approval), t0 + 1);
    const veto = decide(first.approval, by("bob", approval, { decision: "reject" }), t0 + 2);
    expect([veto.kind, veto.approval.status]).toEqual(["settled", "rejected"]);
  });

  it("shows the second click the first outcome and changes nothing (H68)", () => {
    const approval = pending();
    const won = decide(approval, by("ann", approval), t0 + 1).approval;
    const lost = decide(won, by("bob", approval, { decision: "reject", via: "signin" }), t0 + 2);
    expect(lost).toEqual({ kind: "already", reason: "settled", approval: won });
    expect(lost.approval).toBe(won);
  });

  const refusals: [string, Partial<ApprovalRule>, (approval: Approval) => DecisionRequest, number, string][] = [
    ["a stranger", {}, (a) => by("eve", a), 0, "not_an_approver"],
    ["anyone at the very expiry", { expiresIn: "1h" }, (a) => by("ann", a), hour, "expired"],
    [
      "the escalation person before it is time",
      { escalateTo: ["head@bank.example"], escalateAfter: "2h" },
      (a) => by("head", a),
      2 * hour - 1,
      "not_yet_asked",
    ],
    ["the link alone where a code is due", { confirm: "code" }, (a) => by("ann", a), 0, "code_needed"],
    ["a code where signing in is due", { confirm: "signin" }, (a) => by("ann", a, { via: "code" }), 0, "signin_needed"],
    ["an answer to another question", {}, (a) => by("ann", a, { decision: "happened" }), 0, "wrong_decision"],
    ["what was not shown (G9)", {}, (a) => by("ann", a, { shownHash: "other" }), 0, "changed"],
    ["the requester's own approval", { approvers: ["Rita@bank.example"] }, (a) => by("rita", a), 0, "own_request"],
    [
      "the requester who comes by another address",
      {},
      (a) => by("ann", a, { user: "rita@bank.example", via: "signin" }),
      0,
      "own_request",
    ],
    [
      "an edit that is not allowed",
      { allowEdit: false },
      (a) => by("ann", a, { edit: edit('{"a":1}') }),
      0,
      "edit_not_allowed",
    ],
    ["an edit that was not shown again", {}, (a) => by("ann", a, { edit: edit('{"a":1}', false) }), 0, "confirm_edit"],
    [
      "an edit together with a rejection",
      {},
      (a) => by("ann", a, { decision: "reject", edit: edit('{"a":1}') }),
      0,
      "wrong_decision",
    ],
  ];
  for (const [who, rule, request, after, reason] of refusals) {
    it(`refuses ${who}: ${reason}`, () => {
      const approval = pending(rule);
      const outcome = decide(approval, request(approval), t0 + after);
      expect(outcome).toEqual({ kind: "refused", reason, approval });
    });
  }

  it("lets the requester withdraw, and approve where the rule says so", () => {
    const own = pending({ approvers: ["rita@bank.example"] });
    expect(decide(own, by("rita", own, { decision: "reject" }), t0).approval.status).toBe("rejected");
    const allowed = pending({ approvers: ["rita@bank.example"], allowSelf: true });
    expect(decide(allowed, by("rita", allowed), t0).approval.status).toBe("approved");
  });

  it("hears the escalation person once it is time", () => {
    const approval = pending({ escalateTo: ["head@bank.example"], escalateAfter: "2h" });
    expect(decide(approval, by("head", approval), t0 + 2 * hour).approval.status).toBe("approved");
  });

  it("starts the count anew when someone changes the arguments", () => {
    const approval = pending({ quorum: 2 });
    const first = decide(approval, by("ann", approval), t0 + 1).approval;
    const changed = edit('{"amountCents":99,"caseId":"A"}');
    const edited = decide(first, by("bob", first, { edit: changed }), t0 + 2);
    expect([edited.kind, edited.reason]).toEqual(["recorded", "edited"]);
    expect(currentInput(edited.approval)).toEqual({
      input: changed.input,
      inputHash: changed.inputHash,
      by: "bob@bank.example",
      at: t0 + 2,
    });
    expect(edited.approval.decisions.map((one) => [one.by, one.superseded ?? false])).toEqual([
      ["ann@bank.example", true],
      ["bob@bank.example", false],
    ]);
    const stale = decide(edited.approval, by("ann", approval, { shownHash: approval.inputHash }), t0 + 3);
    expect(stale.reason).toBe("changed");
    const settled = decide(edited.approval, by("ann", edited.approval), t0 + 4);
    expect([settled.kind, settled.approval.status]).toEqual(["settled", "approved"]);
  });

  it("does not give approvals back when arguments are changed forth and back", () => {
    const approval = pending({ approvers: ["ann@bank.example", "bob@bank.example", "cyd@bank.example"], quorum: 3 });
    const one = decide(approval, by("ann", approval), t0 + 1).approval;
    const two = decide(one, by("bob", one, { edit: edit('{"caseId":"B"}') }), t0 + 2).approval;
    const back = decide(two, by("cyd", two, { edit: edit(call.input) }), t0 + 3);
    expect(back.kind).toBe("recorded");
    expect(back.approval.decisions.filter((decision) => !decision.superseded).map((d) => d.by)).toEqual([
      "cyd@bank.example",
    ]);
  });

  it("takes unchanged arguments as a plain approval, also where edits are not allowed", () => {
    const approval = pending({ allowEdit: false });
    const outcome = decide(approval, by("ann", approval, { edit: edit(call.input, false) }), t0);
    expect(outcome.kind).toBe("settled");
    expect(outcome.approval.edited).toBeUndefined();
  });

  const answers = [
    ["approve", "happened", "approved"],
    ["reject", "not_happened", "rejected"],
    ["happened", "happened", "approved"],
    ["not_happened", "not_happened", "rejected"],
    ["give_up", "give_up", "rejected"],
  ] as const;
  for (const [decision, verdict, status] of answers) {
    it(`settles a call in doubt by one answer: ${decision} means ${verdict}`, () => {
      const doubt = pending({ quorum: 2, approvers: ["rita@bank.example"] }, { kind: "in_doubt", quorum: 1 });
      const outcome = decide(doubt, by("rita", doubt, { decision }), t0);
      expect(outcome.kind).toBe("settled");
      expect(outcome.approval).toMatchObject({ status, verdict, decisions: [{ decision: verdict }] });
    });
  }

  it("never takes changed arguments for a call in doubt", () => {
    const doubt = pending({}, { kind: "in_doubt" });
    const outcome = decide(doubt, by("ann", doubt, { edit: edit('{"a":1}') }), t0);
    expect(outcome.reason).toBe("edit_not_allowed");
  });
});

describe("expire and cancel", () => {
  it("expires at its time and not before; a time-out is never an approval (H72)", () => {
    const approval = pending({ expiresIn: "1h" });
    expect(expire(approval, t0 + hour - 1)).toEqual({ kind: "refused", reason: "not_due", approval });
    expect(statusAt(approval, t0 + hour - 1)).toBe("pending");
    expect(statusAt(approval, t0 + hour)).toBe("expired");
    const outcome = expire(approval, t0 + hour);
    expect(outcome).toMatchObject({ kind: "settled", approval: { status: "expired", settledAt: t0 + hour } });
    expect(expire(outcome.approval, t0 + 2 * hour)).toMatchObject({ kind: "already", approval: outcome.approval });
  });

  it("cancels with a reason, and only what is pending", () => {
    const approval = pending();
    const gone = cancel(approval, "the session was reset", t0 + 1);
    expect(gone).toMatchObject({
      kind: "settled",
      approval: { status: "cancelled", cancelReason: "the session was reset" },
    });
    expect(decide(gone.approval, by("ann", approval), t0 + 2).kind).toBe("already");
    const approved = decide(approval, by("ann", approval), t0 + 1).approval;
    expect(cancel(approved, "too late", t0 + 2)).toEqual({ kind: "already", reason: "settled", approval: approved });
  });
});

describe("canReachQuorum", () => {
  it("knows that the requester does not count", () => {
    expect(canReachQuorum(pending({ approvers: ["rita@bank.example"] }))).toBe(false);
    expect(canReachQuorum(pending({ approvers: ["rita@bank.example"], allowSelf: true }))).toBe(true);
    expect(canReachQuorum(pending({ quorum: 2, approvers: ["ann@bank.example", "rita@bank.example"] }))).toBe(false);
  });
});

describe("dueAt", () => {
  it("names the next of reminder, escalation and expiry until it is settled", () => {
    const approval = pending({
      remindAfter: "1h",
      escalateTo: ["head@bank.example"],
      escalateAfter: "2h",
      expiresIn: "3h",
    });
    expect(dueAt(approval)).toBe(t0 + hour);
    expect(dueNow(approval, t0 + 2 * hour)).toEqual(["remind", "escalate"]);
    const sent = reminded(approval, t0 + hour);
    expect(dueAt(sent)).toBe(t0 + 2 * hour);
    expect(dueNow(sent, t0 + 2 * hour)).toEqual(["escalate"]);
    expect(dueAt(escalated(sent, t0 + 2 * hour))).toBe(t0 + 3 * hour);
    expect(dueNow(approval, t0 + 3 * hour)).toEqual(["expire"]);
    expect(dueAt(decide(approval, by("ann", approval), t0).approval)).toBeNull();
  });
});

describe("recipients", () => {
  it("reminds only those who have not decided, and tells the others the outcome", () => {
    const approval = pending({ quorum: 2, escalateTo: ["head@bank.example"] });
    const names = (people: { email: string }[]) => people.map((person) => person.email.split("@")[0]);
    expect(names(recipients(approval, "request"))).toEqual(["ann", "bob"]);
    expect(names(recipients(approval, "escalation"))).toEqual(["head"]);
    const first = decide(approval, by("ann", approval), t0 + 1).approval;
    expect(names(recipients(first, "reminder"))).toEqual(["bob"]);
    const second = decide(first, by("bob", first), t0 + 2).approval;
    expect(names(recipients(second, "decided"))).toEqual(["ann"]);
    const lapsed = expire(escalated(first, t0 + 2), approval.expiresAt).approval;
    expect(names(recipients(lapsed, "decided"))).toEqual(["ann", "bob", "head"]);
  });
});
