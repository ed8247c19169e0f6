// baton approve: as the signed-in person. For a call in doubt it says that the call happened.
import type { ApprovalView } from "../../sessions/approvals/approval-view.ts";
import { WrongUse } from "../cli-errors.ts";
import type { Invocation, Run } from "../program.ts";
import { approvalLines } from "../render-approval.ts";

export const run: Run = (invocation) => decide(invocation, "approve");

/** Shared with reject. Throws `WrongUse` for arguments that are no JSON object. */
export async function decide(
  { args, options, output, client }: Invocation,
  decision: "approve" | "reject",
): Promise<number> {
  const input = options.input === undefined ? {} : { input: parseInput(String(options.input)) };
  const comment = options.comment === undefined ? {} : { comment: String(options.comment) };
  const path = `/v1/approvals/${encodeURIComponent(args[0] ?? "")}/decision`;
  const approval = await client.call<ApprovalView>("POST", path, { body: { decision, ...comment, ...input } });
  if (output.json) output.value(approval);
  else for (const line of approvalLines(approval, output.paint)) output.line(line);
  return 0;
}

function parseInput(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Said below, with what it should have been.
  }
  throw new WrongUse(`--input: write all arguments as one JSON object, as in '{"amountCents": 1500}'`);
}
