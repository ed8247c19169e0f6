// Approvals for the tests of mail and page.
import { createHash } from "node:crypto";
import { approvalTerms } from "../../lib/core/approval/terms.ts";
import { type Approval, freezeApproval } from "../../lib/core/approval.ts";
import type { ApprovalRule } from "../../lib/core/define-tool.ts";
import type { JsonObject } from "../../lib/core/json.ts";

export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
/** 2026-05-05 14:30 UTC. */
export const asked = Date.UTC(2026, 4, 5, 14, 30);

/** A pending approval of submit_report, asked by rita of ann and bob. */
export function approvalOf(
  input: JsonObject,
  options: { rule?: Partial<ApprovalRule>; kind?: Approval["kind"]; tool?: string; requestedBy?: string } = {},
): Approval {
  return freezeApproval({
    id: "ap_7f3c",
    kind: options.kind ?? "call",
    call: {
      tenant: "bank",
      sessionId: "20260505_143022_a1b2c3d4",
      turn: 1,
      round: 3,
      index: 0,
      tool: options.tool ?? "submit_report",
      toolVersion: "1",
      input: JSON.stringify(input),
    },
    requestedBy: options.requestedBy ?? "rita",
    agent: "aml-investigator",
    terms: approvalTerms({ approvers: ["ann@bank.example", "bob@bank.example"], ...options.rule }),
    secretHash: (email) => sha256(`secret of ${email}`),
    hash: sha256,
    now: asked,
  });
}

/** Tool input that tries every way out of where it is shown. */
export const hostileInput: JsonObject = {
  script: "<script>alert(1)</script>",
  attribute: `" onmouseover="alert(1)" x='`,
  link: '<a href="javascript:alert(1)">click</a> javascript:alert(1)',
  lure: "done\n\nApprove here instead: https://evil.example/approve\nwww.evil.example",
  header: "x\r\nBcc: eve@evil.example\r\nSubject: hello",
  override: "pay \u202E0001\u202C euros",
  "</dd><script>key</script>\nApprove: https://evil.example": "</textarea></pre></dl></form>",
  template: "{{x}} <!-- --> ]]> &amp;",
};
