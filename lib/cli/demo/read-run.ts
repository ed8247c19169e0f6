// What one run of the demo left behind: the session's tree and events, the tool bodies that ran, the registry.
import { readFileSync } from "node:fs";
import type { RuntimeProcess } from "./runtime-process.ts";

export type ToolRun = { tool: string; key: string; phase: "start" | "end"; pid: number };
export type DemoEvent = { version: number; type: string; at: string; data: Record<string, unknown> };
export type DemoStep = {
  version: number;
  kind: string;
  name?: string;
  status: string;
  content: unknown[];
  output?: unknown;
};
export type DemoRun = {
  status: string;
  answer: string;
  steps: DemoStep[];
  events: DemoEvent[];
  toolRuns: ToolRun[];
  reports: { submissions: number }[];
};

export async function readRun(runtime: RuntimeProcess, sessionId: string, traceFile: string): Promise<DemoRun> {
  const tree = await runtime.call<{ session: { status: string }; turns: { answer?: string; steps: DemoStep[] }[] }>(
    `/v1/sessions/${sessionId}`,
  );
  const events: DemoEvent[] = [];
  for (;;) {
    const page = await runtime.call<{ items: DemoEvent[] }>(
      `/v1/sessions/${sessionId}/events?after=${events.at(-1)?.version ?? 0}`,
    );
    if (page.items.length === 0) break;
    events.push(...page.items);
  }
  const [turn] = tree.turns;
  return {
    status: tree.session.status,
    answer: turn?.answer ?? "",
    steps: turn?.steps ?? [],
    events,
    toolRuns: toolRuns(traceFile),
    reports: await reports(runtime.info().registryUrl),
  };
}

/** Lines of the trace file so far; a torn last line is left out. */
export function toolRuns(traceFile: string): ToolRun[] {
  const lines = readFileSync(traceFile, { encoding: "utf8", flag: "a+" }).split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line) as ToolRun);
}

async function reports(registryUrl: string | undefined): Promise<DemoRun["reports"]> {
  if (!registryUrl) throw new Error("the registry is not running; the demo needs the flagship example");
  const answer = (await (await fetch(`${registryUrl}/reports`)).json()) as { items: DemoRun["reports"] };
  return answer.items;
}
