// The findings of the demo: is the killed run the same as the undisturbed one, and did anything run twice?
import { isDeepStrictEqual } from "node:util";
import type { DemoRun } from "./read-run.ts";

export type { DemoRun } from "./read-run.ts";
export type Finding = { ok: boolean; text: string };

export function compareRuns(undisturbed: DemoRun, disturbed: DemoRun): Finding[] {
  const steps = outcomes(undisturbed);
  const versions = disturbed.events.map((event) => event.version);
  const { completed, interrupted } = bodies(disturbed);
  const [report] = disturbed.reports;
  return [
    { ok: disturbed.status === "completed", text: `the session is ${disturbed.status}` },
    {
      ok: isDeepStrictEqual(steps, outcomes(disturbed)),
      text: `${steps.length} steps with the same tools, arguments and results`,
    },
    {
      ok: versions.every((version, i) => version === i + 1),
      text: `versions 1 to ${versions.length} without gap or repeat`,
    },
    {
      ok: completed.every(({ times }) => times === 1),
      text: completed.map(({ tool, times }) => `${tool} ${times}x`).join(", "),
    },
    {
      ok: interrupted.every((tool) => tool === "assess_risk"),
      text: `interrupted and begun again: ${interrupted.join(", ") || "none"} (effect "read", may run again)`,
    },
    {
      ok: disturbed.reports.length === 1 && report?.submissions === 1,
      text: `the registry holds ${disturbed.reports.length} report, submitted ${report?.submissions ?? 0} time`,
    },
  ];
}

/** Bodies that ran to their end, per tool, and those that were begun and not ended. */
function bodies(run: DemoRun): { completed: { tool: string; times: number }[]; interrupted: string[] } {
  const count = (tool: string, phase: string) =>
    run.toolRuns.filter((line) => line.tool === tool && line.phase === phase).length;
  const tools = [...new Set(run.toolRuns.map((line) => line.tool))];
  return {
    completed: tools.map((tool) => ({ tool, times: count(tool, "end") })),
    interrupted: tools.filter((tool) => count(tool, "start") > count(tool, "end")),
  };
}

/** Steps without what must differ: versions, times, ids of the session, the moment of filing. */
function outcomes(run: DemoRun): unknown[] {
  return run.steps.map(({ kind, name, status, output }) => ({ kind, name, status, output: withoutMoments(output) }));
}

function withoutMoments(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMoments);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) => (name === "filedAt" ? [] : [[name, withoutMoments(part)]])),
  );
}
