import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type ApprovalPage, approvalPage } from "../../lib/api/approval-page/approval-page.ts";
import { approvalHeaders } from "../../lib/api/approval-page/headers.ts";
import { makePageNonce, verifyPageNonce } from "../../lib/api/approval-page/page-nonce.ts";
import { cancel, type DecisionRequest, decide, expire } from "../../lib/core/approval/decide.ts";
import type { Approval } from "../../lib/core/approval.ts";
import type { JsonObject } from "../../lib/core/json.ts";
import { approvalOf, asked, hostileInput } from "../support/approvals.ts";

const input: JsonObject = {
  caseId: "A-1",
  amountCents: 1_234_567,
  narrative: "Herr Müller\n王小明\nשלום עולם",
  urgent: true,
};
const schema = z.toJSONSchema(
  z.object({
    caseId: z.string().describe("As in the register"),
    amountCents: z.int(),
    narrative: z.string(),
    urgent: z.boolean(),
  }),
) as JsonObject;
const ann = { email: "ann@bank.example" };

function pending(approval: Approval, more: Partial<Extract<ApprovalPage, { kind: "pending" }>> = {}) {
  return approvalPage({ kind: "pending", approval, approver: ann, styleNonce: "s1", pageNonce: "n1", schema, ...more });
}

function decided(approval: Approval, more: Partial<DecisionRequest> = {}): Approval {
  const by = { by: ann.email, decision: "approve", via: "link", shownHash: approval.inputHash } as const;
  return decide(approval, { ...by, ...more }, asked + 60_000).approval;
}

function everyPage(approval: Approval, of: JsonObject): ApprovalPage[] {
  const open = { approval, approver: ann, styleNonce: "s1", pageNonce: "n1", comment: "</textarea><b>" };
  const settled = { kind: "settled", styleNonce: "s1", now: asked } as const;
  const errors = Object.keys(of).map((path) => ({ path, message: "<b>bad</b>" }));
  return [
    { kind: "pending", ...open, schema: {} },
    { kind: "pending", ...open, schema, errors, submitted: { "arg.caseId": '"><b>' }, notice: "look again" },
    { kind: "pending", ...open, schema, approval: { ...approval, kind: "in_doubt" } },
    { kind: "confirm", ...open, edited: { ...of, caseId: "<b>" } },
    { kind: "code", ...open, decision: "approve", edited: of, error: "wrong code" },
    { ...settled, approval: decided(approval, { comment: "<b>\u202E" }) },
    { ...settled, approval: expire(approval, approval.expiresAt).approval },
    { ...settled, approval: cancel(approval, "<b>reset</b>", asked).approval },
    { kind: "not_found", styleNonce: "s1" },
    { kind: "sign_in", styleNonce: "s1", signInUrl: "/signin?next=%2Fapprove" },
    { kind: "too_many", styleNonce: "s1" },
  ];
}

const forms = (html: string) => html.match(/<form[^>]*>.*?<\/form>/gs) ?? [];
const buttons = (html: string) => [...html.matchAll(/<button[^>]* value="([^"]*)"/g)].map((match) => match[1]);

describe("every approval page", () => {
  const hostile = approvalOf(hostileInput, { requestedBy: '<b>"rita"' });
  for (const page of everyPage(hostile, hostileInput)) {
    const { html } = approvalPage(page);
    it(`lets hostile input be text only: ${page.kind}`, () => {
      expect(html).not.toMatch(/<script|<b>|<img|(href|action|src)="javascript|\u202E/i);
      const bare = html.replace(/"[^"]*"/g, '""');
      expect(bare).not.toMatch(/<[^>]* on[a-z]+=/i);
      expect([...html.matchAll(/href="([^"]*)"/g)].map((match) => match[1])).toEqual(
        page.kind === "sign_in" ? ["/signin?next=%2Fapprove"] : [],
      );
      expect(html).not.toMatch(/ style="| src=|<link|<iframe|<base/);
    });
  }

  const plain = approvalOf(input);
  for (const page of everyPage(plain, input)) {
    const { html } = approvalPage(page);
    it(`is one labelled, script-free document: ${page.kind}`, () => {
      expect(html).toMatch(/^<!doctype html>\n<html lang="en" dir="ltr">/);
      expect(html).toContain('name="viewport" content="width=device-width, initial-scale=1"');
      expect(html.match(/<h1>/g)).toHaveLength(1);
      expect(html.match(/<style/g)).toHaveLength(1);
      expect(html).toContain('<style nonce="s1">');
      const labels = new Set([...html.matchAll(/<label for="([^"]*)"/g)].map((match) => match[1]));
      const controls = [...html.matchAll(/<(?:input|textarea|select)\b[^>]*>/g)]
        .map(([tag]) => tag)
        .filter((tag) => !tag.includes('type="hidden"'));
      for (const tag of controls) expect(labels).toContain(/ id="([^"]*)"/.exec(tag)?.[1]);
      const ids = [...html.matchAll(/ id="([^"]*)"/g)].map((match) => match[1]);
      expect(new Set(ids).size).toBe(ids.length);
      for (const [, described] of html.matchAll(/aria-(?:describedby|labelledby)="([^"]*)"/g)) {
        for (const id of (described ?? "").split(" ")) expect(ids).toContain(id);
      }
    });

    it(`decides by POST with the page's nonce only: ${page.kind} (G8)`, () => {
      for (const form of forms(html)) {
        if (form.includes("value=") || form.includes('name="')) {
          expect(form).toMatch(/^<form method="post">/);
          expect(form).toContain('<input type="hidden" name="nonce" value="n1">');
        } else expect(buttons(form)).toEqual([]);
      }
    });
  }
});

describe("the pending page", () => {
  it("shows who asks for what until when, every argument, and the two buttons", () => {
    const { status, html } = pending(approvalOf(input));
    expect(status).toBe(200);
    expect(html).toContain("The agent aml-investigator, working for rita, asks to run submit_report.");
    expect(html).toContain("2026-05-08 14:30 UTC");
    expect(html).toContain('<dd dir="auto">Herr Müller\n王小明\nשלום עולם</dd>');
    expect(html).toContain("1234567 (= 12,345.67)");
    expect(html).toContain("You decide as <bdi>ann@bank.example</bdi>");
    expect(buttons(html)).toEqual(["approve", "reject", "change"]);
  });

  it("has three buttons and no edit for a call in doubt", () => {
    const { html } = pending(approvalOf(input, { kind: "in_doubt" }));
    expect(buttons(html)).toEqual(["happened", "not_happened", "give_up"]);
    expect(html).toContain("Did it happen?");
  });

  it("lets the requester only withdraw", () => {
    const { html } = pending(approvalOf(input, { requestedBy: "Ann@bank.example" }));
    expect(buttons(html)).toEqual(["reject"]);
  });

  it("offers no edit where the rule has none", () => {
    expect(buttons(pending(approvalOf(input, { rule: { allowEdit: false } })).html)).toEqual(["approve", "reject"]);
  });

  it("tells a person who has decided what is missing, without buttons", () => {
    const first = decided(approvalOf(input, { rule: { quorum: 2 } }));
    const { html } = pending(first);
    expect(forms(html)).toEqual([]);
    expect(html).toContain("You have decided. One more approval is needed.");
    expect(html).toContain("ann@bank.example approved, 2026-05-05 14:31 UTC");
  });

  it("shows the next approver what a change changed", () => {
    const approval = approvalOf(input, { rule: { quorum: 2 } });
    const edit = { input: JSON.stringify({ ...input, caseId: "A-2" }), inputHash: "h2", confirmedHash: "h2" };
    const { html } = pending(decided(approval, { edit }), { approver: { email: "bob@bank.example" } });
    expect(html).toContain("What would run, as changed by ann@bank.example");
    expect(html).toMatch(
      /<del[^>]*><span class="hidden">Before: <\/span>A-1<\/del><ins[^>]*><span class="hidden">Now: <\/span>A-2/,
    );
  });

  it("shows faults at their field, keeps what was typed, and is open there", () => {
    const errors = [
      { path: "amountCents", message: "write a whole number" },
      { path: "caseId.inner[0]", message: "too deep" },
      { path: "nowhere", message: "does not go together" },
    ];
    const { status, html } = pending(approvalOf(input), { errors, submitted: { "arg.amountCents": "12,5" } });
    expect(status).toBe(422);
    expect(html).toContain("<details open>");
    expect(html).toMatch(
      /name="arg.amountCents" aria-describedby="field-1-error" aria-invalid="true"[^>]* value="12,5"/,
    );
    expect(html).toContain('<p class="error" id="field-1-error">write a whole number</p>');
    expect(html).toContain('aria-describedby="field-0-hint field-0-error"');
    expect(html).toContain("caseId.inner[0]: too deep");
    expect(html).toContain('<p class="error" role="alert">does not go together</p>');
  });
});

describe("the confirming page", () => {
  it("shows the change and carries exactly it", () => {
    const edited = { ...input, caseId: 'A"2', narrative: "\u0000\u202E\r\n" };
    const approval = approvalOf(input);
    const { html } = approvalPage({
      kind: "confirm",
      approval,
      approver: ann,
      styleNonce: "s1",
      pageNonce: "n2",
      edited,
    });
    expect(html).toContain("Nothing has been decided yet");
    expect(html).toMatch(/A-1<\/del><ins[^>]*><span class="hidden">Now: <\/span>A&quot;2/);
    const carried = /name="edit" value="([^"]*)"/.exec(html)?.[1]?.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
    expect(JSON.parse(carried ?? "")).toEqual(edited);
    expect(buttons(html)).toEqual(["approve"]);
  });
});

describe("the settled page", () => {
  const settled = (approval: Approval, now = asked) =>
    approvalPage({ kind: "settled", approval, styleNonce: "s1", now });

  it("says who decided what and when (H68)", () => {
    const { status, html } = settled(decided(approvalOf(input), { comment: "in order" }));
    expect(status).toBe(200);
    expect(html).toContain("<h1>submit_report was approved</h1>");
    expect(html).toContain('ann@bank.example approved, 2026-05-05 14:31 UTC<br><q dir="auto">in order</q>');
    expect(forms(html)).toEqual([]);
  });

  it("is gone when expired, also before anyone wrote that down, and says how to go on", () => {
    const approval = approvalOf(input);
    const { status, html } = settled(approval, approval.expiresAt);
    expect(status).toBe(410);
    expect(html).toContain("ask the agent again");
  });

  it("says why it was cancelled", () => {
    const { status, html } = settled(cancel(approvalOf(input), "the session was reset", asked).approval);
    expect(status).toBe(200);
    expect(html).toContain("Reason: <bdi>the session was reset</bdi>");
  });

  it("says what was answered about a call in doubt", () => {
    const doubt = decided(approvalOf(input, { kind: "in_doubt" }), { decision: "not_happened" });
    expect(settled(doubt).html).toContain("<h1>submit_report did not happen</h1>");
  });
});

describe("approvalHeaders", () => {
  it("lets nothing be cached, referred, framed, loaded or indexed", () => {
    const headers = approvalHeaders("s1");
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
    expect(headers["x-robots-tag"]).toContain("noindex");
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; style-src 'nonce-s1'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
  });
});

describe("the page nonce", () => {
  const hmac = (key: string, text: string) => createHmac("sha256", key).update(text).digest("base64url");
  const parts = { approvalId: "ap1", secretHash: "aa", inputHash: "bb" };
  const hour = 3_600_000;

  it("holds for its hour and the next, for the same person, approval and arguments", () => {
    const nonce = makePageNonce(parts, 10 * hour + 5, hmac);
    expect(verifyPageNonce(nonce, parts, 10 * hour + 5, hmac)).toBe(true);
    expect(verifyPageNonce(nonce, parts, 12 * hour - 1, hmac)).toBe(true);
    expect(verifyPageNonce(nonce, parts, 12 * hour, hmac)).toBe(false);
    expect(verifyPageNonce(nonce, parts, 9 * hour, hmac)).toBe(false);
    for (const other of [{ approvalId: "ap2" }, { secretHash: "ab" }, { inputHash: "bc" }]) {
      expect(verifyPageNonce(nonce, { ...parts, ...other }, 10 * hour, hmac)).toBe(false);
    }
    for (const other of ["", "x", `${nonce}x`, "ü".repeat(43)]) {
      expect(verifyPageNonce(other, parts, 10 * hour, hmac)).toBe(false);
    }
  });
});
