// Short turns of many sessions, each sending its next message when it has its answer.
import { workerFlags } from "../../lib/local/supervisor.ts";
import type { Row } from "../context.ts";
import { runProcess } from "../run-process.ts";
import { quantile } from "../statistics.ts";
import type { TurnsJob, TurnsReport } from "../turns-process.ts";

export const turns: Row = {
  name: "turns",
  about: "turns per second over 200 sessions, and how long accepting a message takes",
  async run(context) {
    const job: TurnsJob = { data: context.folder(), sessions: Math.min(200, context.sizes.at(-1) ?? 200), turns: 3 };
    context.say(`${job.sessions} sessions, ${job.turns} turns each`);
    const { totalMs, acceptMs } = await runProcess<TurnsReport>("turns-process.ts", job, { flags: workerFlags });
    const note = `${job.sessions} sessions at once, each turn one call and an answer`;
    return [
      { name: "turns per second", value: (job.sessions * job.turns * 1000) / totalMs, unit: "/s", note },
      {
        name: "accept a message, p50",
        value: quantile(acceptMs, 0.5),
        unit: "ms",
        note: "under that load, stored when it answers",
      },
      { name: "accept a message, p99", value: quantile(acceptMs, 0.99), unit: "ms" },
    ];
  },
};
