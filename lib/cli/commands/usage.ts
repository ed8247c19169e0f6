// baton usage: what a day has cost, by model and session.
import type { DayReport } from "../../sessions/usage.ts";
import { type Output, oneLine } from "../output.ts";
import type { Run } from "../program.ts";

const shownSessions = 20;

export const run: Run = async ({ options, output, client }) => {
  const query = options.day === undefined ? "" : `?${new URLSearchParams({ day: String(options.day) })}`;
  const report = await client.call<DayReport>("GET", `/v1/usage${query}`);
  if (output.json) output.value(report);
  else for (const line of lines(report, output)) output.line(line);
  return 0;
};

type Used = DayReport["total"];

function lines(report: DayReport, { paint }: Output): string[] {
  const { day, total, models, sessions } = report;
  const hidden = report.omittedSessions + Math.max(0, sessions.length - shownSessions);
  return [
    `${paint.bold(day)} (UTC)  ${amounts(total)}`,
    ...models.map((used) => `  ${amounts(used)}  ${oneLine(used.model, 60)}`),
    ...(sessions.length > 0 ? [paint.dim("by session")] : []),
    ...sessions
      .slice(0, shownSessions)
      .map((used) => `  ${amounts(used)}  ${used.sessionId}  ${oneLine(used.key, 40)}`),
    ...(hidden > 0 ? [paint.dim(`  and ${hidden} more; --json lists up to 500`)] : []),
  ];
}

function amounts(used: Used): string {
  const input = used.inputTokens + used.cacheReadTokens + used.cacheWriteTokens;
  return `$${used.usd}  ${input} in  ${used.outputTokens} out`;
}
