import { describe, expect, it } from "vitest";
import { cancel, decide, expire } from "../../lib/core/approval/decide.ts";
import type { Approval, Approver } from "../../lib/core/approval.ts";
import { type ApprovalMail, approvalMail, approvalMessageId, maxMailCharacters } from "../../lib/mail/templates.ts";
import { approvalOf, asked, hostileInput, sha256 } from "../support/approvals.ts";

const link = "https://baton.example/approve/ap_7f3c/c2VjcmV0";
const input = { caseId: "A-1", amountCents: 1_234_567, narrative: "Herr Müller-Lüdenscheidt\n王小明\nשלום עולם" };

function mailed(approval: Approval, purpose: "request" | "reminder" | "escalation" = "request") {
  return approvalMail({ approval, approver: person(approval), purpose, link });
}

function person(approval: Approval): Approver {
  const approver = approval.approvers[0];
  if (!approver) throw new Error("nobody is asked");
  return approver;
}

function everyPurpose(approval: Approval): ApprovalMail[] {
  const approver = person(approval);
  return [
    { approval, approver, purpose: "request", link },
    { approval, approver, purpose: "reminder", link },
    { approval, approver, purpose: "escalation", link },
    { approval, approver, purpose: "decided" },
    { approval, approver, purpose: "code", code: "483920", codeExpiresAt: asked + 600_000 },
  ];
}

describe("approvalMail", () => {
  it("says who asks for what until when, with all arguments and one link", () => {
    const mail = mailed(approvalOf(input));
    expect(mail.subject).toBe("Approval needed: submit_report (until 2026-05-08 14:30 UTC)");
    expect(mail.text).toBe(`The agent aml-investigator, working for rita, asks to run submit_report.

It waits until 2026-05-08 14:30 UTC. Look at it and decide here; opening the page decides nothing:

    ${link}

This link is yours alone. Do not forward it.

What would run: submit_report, version 1
(what follows a bar was not written by us)

| caseId: A-1
| amountCents: 1234567 (= 12,345.67)
| narrative:
|   Herr Müller-Lüdenscheidt
|   王小明
|   שלום עולם

One approval is needed; one rejection ends it. If nobody decides in time, it does not run and the agent is told.

Session 20260505_143022_a1b2c3d4, approval ap_7f3c.
`);
    expect(mail.html).toContain('<dd dir="auto"');
    expect(mail.html).toContain("Herr Müller-Lüdenscheidt\n王小明\nשלום עולם</dd>");
    expect(mail.html.match(/href="[^"]*"/g)).toEqual([`href="${link}"`]);
  });

  it("tells reminder, escalation and the question of a call in doubt apart", () => {
    const doubt = approvalOf(input, { kind: "in_doubt" });
    expect(mailed(approvalOf(input), "reminder").subject).toMatch(/^Reminder: Approval needed: submit_report/);
    expect(mailed(approvalOf(input), "escalation").subject).toMatch(/^Escalated to you: Approval needed/);
    expect(mailed(doubt).subject).toMatch(/^Did submit_report happen\?/);
    expect(mailed(doubt).text).toContain("was interrupted before it knew the outcome. Did it happen?");
  });

  it("gives hostile input no header, no link, no markup and no hidden character in any mail", () => {
    const hostile = approvalOf(hostileInput, { requestedBy: "rita\r\nBcc: eve@evil.example <b>" });
    for (const mail of everyPurpose(hostile)) {
      const { subject, text, html } = approvalMail(mail);
      const ours = "link" in mail ? [link] : [];
      expect(subject).not.toMatch(/[\r\n<]/);
      expect(html).not.toMatch(/<script|<a href="javascript|onmouseover="|<b>|\u202E/);
      expect(html.match(/href="[^"]*"/g) ?? []).toEqual(ours.map((one) => `href="${one}"`));
      expect(html).not.toMatch(/https:\/\/evil|www\.evil/);
      expect(text).not.toMatch(/[\r\u202E]/);
      const unbarred = text.split("\n").filter((line) => !line.startsWith("| "));
      expect(unbarred.join("\n").match(/https?:\S+/g) ?? []).toEqual(ours);
      expect(unbarred.join("\n")).not.toMatch(/evil\.example\/|Approve here/);
    }
    expect(mailed(hostile).text).toContain("| override: pay [U+202E]0001[U+202C] euros");
    expect(mailed(hostile).text).toContain("|   Approve here instead: https://evil.example/approve");
  });

  it("shows long arguments whole up to its limit, and says when there is more", () => {
    const whole = mailed(approvalOf({ narrative: "ü".repeat(maxMailCharacters - 20) }));
    expect(whole.text).toContain("ü".repeat(maxMailCharacters - 20));
    expect(whole.text).not.toContain("beginning only");
    const cut = mailed(approvalOf({ narrative: "😀".repeat(maxMailCharacters + 1), last: "unseen" }));
    expect(cut.text).toContain(
      `the beginning only, of ${maxMailCharacters + 7} characters in all. The page shows everything.`,
    );
    expect(cut.text).not.toContain("unseen");
    expect(cut.html.length).toBeLessThan(100_000);
    expect(cut.text.isWellFormed()).toBe(true);
  });

  it("tells the others who decided what, with the arguments as they were changed", () => {
    const approval = approvalOf(input);
    const edit = { input: '{"caseId":"A-2"}', inputHash: "other", confirmedHash: "other" };
    const by = { by: "ann@bank.example", via: "link", shownHash: approval.inputHash } as const;
    const done = decide(approval, { ...by, decision: "approve", comment: "only A-2", edit }, asked + 60_000).approval;
    const mail = approvalMail({ approval: done, approver: person(done), purpose: "decided" });
    expect(mail.subject).toBe("Settled: submit_report was approved");
    expect(mail.text).toContain("ann@bank.example approved, 2026-05-05 14:31 UTC.");
    expect(mail.text).toContain("Arguments, as an approver changed them: submit_report, version 1");
    expect(mail.text).toContain("| Comment of ann@bank.example: only A-2\n| caseId: A-2");
    const late = expire(approval, approval.expiresAt).approval;
    expect(approvalMail({ approval: late, approver: person(late), purpose: "decided" }).subject).toBe(
      "Settled: submit_report was not decided in time",
    );
    const gone = cancel(approval, "the session was reset", asked).approval;
    expect(approvalMail({ approval: gone, approver: person(gone), purpose: "decided" }).text).toContain(
      "Reason: the session was reset.",
    );
  });

  it("sends a code without any link or argument", () => {
    const approval = approvalOf(input);
    const code = { purpose: "code", code: "483920", codeExpiresAt: asked + 600_000 } as const;
    const mail = approvalMail({ approval, approver: person(approval), ...code });
    expect(mail.text).toContain("valid until 2026-05-05 14:40 UTC:\n\n    483920\n");
    expect(`${mail.text}${mail.html}`).not.toMatch(/https?:|href|A-1/);
    expect(mail.subject).not.toContain("483920");
  });
});

describe("approvalMessageId", () => {
  it("is the same for the same mail and another for any other (H23)", () => {
    const approval = { id: "ap", tenant: "t" };
    const base = {
      approval,
      approver: { email: "a@x.example" },
      purpose: "request",
      domain: "b.example",
      hash: sha256,
    } as const;
    const ids = [
      base,
      { ...base, purpose: "reminder" as const },
      { ...base, approver: { email: "b@x.example" } },
      { ...base, approval: { id: "ap", tenant: "u" } },
      { ...base, salt: "2" },
    ].map(approvalMessageId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(approvalMessageId(base)).toBe(ids[0]);
    for (const id of ids) expect(id).toMatch(/^<[0-9a-f]{40}\.[a-z]+@b\.example>$/);
  });
});
