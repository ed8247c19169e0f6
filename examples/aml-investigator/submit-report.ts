// submit_report: the one thing here that cannot be taken back, so it is `once`, a compliance officer has to
// approve it, and after a crash the registry itself is asked whether it happened.
import { type ApprovalRule, defineTool, OutcomeUnknown, type ToolContext, type Verdict } from "baton";
import * as z from "zod";
import { traced } from "./trace.ts";

/** Who has to agree before a report is filed. AML_APPROVAL=off switches it off, for crash tests only. */
export const reportApproval: ApprovalRule = { approvers: ["compliance@bank.example"], expiresIn: "3d" };

const input = z.object({
  caseId: z.string().regex(/^AML-\d{4}-\d{4}$/, 'as in "AML-2026-1042"'),
  narrative: z.string().min(1).max(20_000),
  amountCents: z.int().min(0).describe("integer cents, as assess_risk answered it"),
});
type Input = z.infer<typeof input>;

const receiptSchema = z.object({
  receiptId: z.string(),
  caseId: z.string(),
  amountCents: z.int(),
  filedAt: z.string(),
  narrativeSha256: z.string(),
});
/** What the registry answers for a filed report. */
export type Receipt = z.infer<typeof receiptSchema>;

export const submitReport = defineTool({
  name: "submit_report",
  description:
    "Files the report with the registry. Cannot be undone; a compliance officer is asked first. Use caseId, narrative and " +
    "amountCents exactly as draft_narrative answered them.",
  input,
  effect: "once",
  approval: () => (process.env.AML_APPROVAL === "off" ? null : reportApproval),
  verify,
  resources: (receipt: Receipt) => [receipt.receiptId],
  run: traced("submit_report", file),
});

async function file(report: Input, ctx: ToolContext): Promise<Receipt> {
  const response = await ask("/reports", {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": ctx.idempotencyKey },
    body: JSON.stringify(report),
    signal: ctx.signal,
  });
  if (response.ok) return receiptSchema.parse(await response.json());
  throw new Error(`the registry refused the report (${response.status}): ${await response.text()}`);
}

/** Asked after a crash between the filing and its record: the registry keeps the key of every report. */
async function verify(key: string, _report: Input, ctx: ToolContext): Promise<Verdict> {
  const response = await ask(`/reports/by-key/${encodeURIComponent(key)}`, { signal: ctx.signal }).catch(() => null);
  if (response?.ok) return { status: "done", result: receiptSchema.parse(await response.json()) };
  return response?.status === 404 ? "not_done" : "unknown";
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  const base = process.env.AML_REGISTRY_URL;
  if (!base) {
    throw new Error(
      "AML_REGISTRY_URL is not set: start the registry with `node examples/aml-investigator/registry.ts --port 0 --file " +
        "registry.jsonl` and set it to the printed url",
    );
  }
  try {
    return await fetch(new URL(path, base), init);
  } catch (cause) {
    if (init.method !== "POST") throw new Error(`the registry at ${base} did not answer`, { cause });
    throw new OutcomeUnknown(`the registry at ${base} did not answer; whether the report was filed is unknown`, {
      cause,
    });
  }
}
