// baton approvals: what waits for people, and what they decided.
import type { ApprovalView } from "../../sessions/approvals/approval-view.ts";
import type { Page } from "../../sessions/events.ts";
import { oneLine } from "../output.ts";
import type { Run } from "../program.ts";
import { approvalLines } from "../render-approval.ts";

const defaultLimit = 20;

export const run: Run = async ({ options, output, client }) => {
  const limit = Number(options.limit ?? defaultLimit);
  const items: ApprovalView[] = [];
  let cursor: string | undefined;
  // A page may be short and still have a cursor.
  do {
    const query = new URLSearchParams({
      limit: String(limit - items.length),
      ...(options.status === undefined ? {} : { status: String(options.status) }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const page = await client.call<Page<ApprovalView>>("GET", `/v1/approvals?${query}`);
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined && items.length < limit);
  if (output.json) output.value({ items, ...(cursor === undefined ? {} : { cursor }) });
  else if (items.length === 0)
    output.line(`no approvals${options.status ? ` ${oneLine(String(options.status))}` : ""}`);
  else for (const item of items) for (const line of approvalLines(item, output.paint)) output.line(line);
  return 0;
};
