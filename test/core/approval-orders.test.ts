import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ApprovalOutcome, cancel, decide, expire } from "../../lib/core/approval/decide.ts";
import { dueAt } from "../../lib/core/approval/due.ts";
import { approvalTerms } from "../../lib/core/approval/terms.ts";
import { type Approval, approvalHash, currentInput, freezeApproval } from "../../lib/core/approval.ts";
import type { ApprovalRule } from "../../lib/core/define-tool.ts";

const people = ["ann@x.example", "bob@x.example", "cyd@x.example", "head@x.example", "eve@x.example"];
const inputs = ['{"n":1}', '{"n":2}', '{"n":3}'];
const call = { tenant: "t", sessionId: "s", turn: 1, round: 1, index: 0, tool: "pay", toolVersion: "1" };
const hash = (text: string) => `#${text}`;
const hashOf = (input: string) => approvalHash({ ...call, input }, hash);

type Action =
  | { do: "approve" | "reject"; by: string; seen: string }
  | { do: "edit"; by: string; seen: string; input: string; confirmed: boolean }
  | { do: "expire" }
  | { do: "cancel" };

const person = fc.constantFrom(...people);
const input = fc.constantFrom(...inputs);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("approve" as const), by: person, seen: input }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reject" as const), by: person, seen: input }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("edit" as const), by: person, seen: input, input, confirmed: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "expire" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "cancel" as const }) },
);

function fresh(quorum: number): Approval {
  const rule: ApprovalRule = {
    approvers: people.slice(0, 3),
    escalateTo: ["head@x.example"],
    quorum,
    expiresIn: "100ms",
  };
  return freezeApproval({
    id: "ap",
    kind: "call",
    call: { ...call, input: '{"n":1}' },
    requestedBy: "cyd@x.example",
    terms: approvalTerms(rule),
    secretHash: hash,
    hash,
    now: 0,
  });
}

function perform(approval: Approval, act: Action, now: number): ApprovalOutcome {
  if (act.do === "expire") return expire(approval, now);
  if (act.do === "cancel") return cancel(approval, "stopped", now);
  const base = { by: act.by, via: "link" as const, shownHash: hashOf(act.seen) };
  if (act.do !== "edit") return decide(approval, { ...base, decision: act.do }, now);
  const inputHash = hashOf(act.input);
  const edit = { input: act.input, inputHash, ...(act.confirmed ? { confirmedHash: inputHash } : {}) };
  return decide(approval, { ...base, decision: "approve", edit }, now);
}

describe("an approval in any order of events", () => {
  it("is decided once, by people who may, on what they saw, and never changes afterwards (G9, G10, H68)", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.record({ action, wait: fc.integer({ min: 0, max: 20 }) }), { minLength: 1, maxLength: 30 }),
        (quorum, steps) => {
          let approval = fresh(quorum);
          let now = 0;
          let settled = 0;
          for (const step of steps) {
            now += step.wait;
            const before = approval;
            const outcome = perform(approval, step.action, now);
            seen.add(`${outcome.kind}:${outcome.reason}`);
            if (before.status !== "pending") expect(outcome).toMatchObject({ kind: "already", reason: "settled" });
            if (outcome.kind === "already" || outcome.kind === "refused") expect(outcome.approval).toBe(before);
            if (outcome.kind === "recorded") expect(outcome.approval.status).toBe("pending");
            if (outcome.kind === "settled") {
              settled += 1;
              expect(outcome.approval.status).toBe(outcome.reason);
            }
            approval = outcome.approval;
            checkCount(approval, quorum, now);
          }
          expect(settled).toBe(approval.status === "pending" ? 0 : 1);
          expect(dueAt(approval) === null).toBe(approval.status !== "pending");
        },
      ),
      { numRuns: 2000 },
    );
    // The generator reaches every kind of ending, so the property is not vacuous.
    for (const kind of ["settled:approved", "settled:rejected", "settled:expired", "settled:cancelled"]) {
      expect(seen).toContain(kind);
    }
    for (const kind of ["recorded:edited", "already:decided", "refused:changed", "refused:own_request"]) {
      expect(seen).toContain(kind);
    }
  });
});

function checkCount(approval: Approval, quorum: number, now: number): void {
  const counted = approval.decisions.filter((decision) => !decision.superseded && decision.decision === "approve");
  expect(new Set(counted.map((decision) => decision.by)).size).toBe(counted.length);
  for (const decision of counted) {
    expect(decision.inputHash).toBe(currentInput(approval).inputHash);
    expect(["ann@x.example", "bob@x.example", "head@x.example"]).toContain(decision.by);
    expect(decision.at).toBeLessThan(approval.expiresAt);
    expect(decision.at).toBeLessThanOrEqual(now);
  }
  if (approval.status === "approved") expect(counted).toHaveLength(quorum);
  if (approval.status === "pending") expect(counted.length).toBeLessThan(quorum);
}
