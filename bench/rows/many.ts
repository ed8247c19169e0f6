// Twenty sessions at once in one process: what a round costs when others run too.
import { workerFlags } from "../../lib/local/supervisor.ts";
import type { Row } from "../context.ts";
import { runProcess } from "../run-process.ts";
import type { SessionJob, SessionReport } from "../session-process.ts";

const sessions = 20;

export const many: Row = {
  name: "many",
  about: "time per round with 20 sessions at once",
  async run(context) {
    const rounds = Math.min(100, context.sizes.at(-1) ?? 100);
    context.say(`${sessions} sessions at once, ${rounds} rounds each`);
    const job: SessionJob = {
      data: context.folder(),
      rounds,
      sessions,
      warmUp: rounds,
      floorRounds: rounds,
      die: false,
    };
    const report = await runProcess<SessionReport>("session-process.ts", job, { flags: workerFlags });
    return [
      {
        name: "20 sessions at once, per round",
        value: report.totalMs / (sessions * rounds),
        unit: "ms",
        note: `all ${sessions * rounds} rounds together`,
      },
    ];
  },
};
