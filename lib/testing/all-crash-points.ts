// For authors' tests: one call that says whether an agent survives a crash at any instant.
import { isDeepStrictEqual } from "node:util";
import type { Agent } from "../core/define-flow.ts";
import type { ReplyLine } from "../demo-model/script-line.ts";
import { type CrashOptions, type CrashPoint, crashAt, crashPoints } from "./crash-points.ts";

export type CrashReport = {
  /** Instants that were tried. */
  tried: number;
  /** Those after which the session ended otherwise than undisturbed, with what happened instead. */
  differing: { point: CrashPoint; history: unknown[] }[];
  /** Calls with effect `once` whose body ran more than once, by point and idempotency key. */
  repeated: { point: CrashPoint; key: string; times: number }[];
};

/**
 * Plays `script` (one line a model reply) with `agent` once for every instant at which a process can die or lose an answer. The
 * tools really run, many times: give them a stand-in for the outside world. A `once` tool without `verify` waits for a person after a
 * crash around its effect, which is reported as differing. People of a gated call decide by `options.decide`.
 */
export async function allCrashPoints(
  agent: Agent,
  script: ReplyLine[],
  options: CrashOptions = {},
): Promise<CrashReport> {
  const { undisturbed, points } = await crashPoints(agent, script, options);
  const report: CrashReport = { tried: points.length, differing: [], repeated: [] };
  const once = new Set(agent.tools.filter((tool) => tool.effect === "once").map((tool) => tool.name));
  for (const point of points) {
    const played = await crashAt(point, agent, script, options);
    if (!isDeepStrictEqual(played.history, undisturbed.history))
      report.differing.push({ point, history: played.history });
    for (const { event } of played.checkpoints) {
      if (event.type !== "call.started" || !once.has(event.tool)) continue;
      const times = played.effects[event.idempotencyKey] ?? 0;
      if (times > 1) report.repeated.push({ point, key: event.idempotencyKey, times });
    }
  }
  return report;
}
