// A process was killed in the middle of a turn: how long until a fresh one has committed the next step.
import { workerFlags } from "../../lib/local/supervisor.ts";
import type { Row } from "../context.ts";
import type { ResumeJob, ResumeReport } from "../resume-process.ts";
import { runProcess } from "../run-process.ts";

export const resume: Row = {
  name: "resume",
  about: "from the start of a fresh process to the next committed step of a killed session",
  async run(context) {
    const figures = [];
    for (const rounds of context.sizes) {
      const { report, data } = await context.session(rounds);
      context.say(`resuming after ${rounds} rounds`);
      const job: ResumeJob = { data, sessionId: report.sessionIds[0] ?? "", rounds: rounds + 3 };
      const start = performance.timeOrigin + performance.now();
      const resumed = await runProcess<ResumeReport>("resume-process.ts", job, { flags: workerFlags });
      const ms = (name: string, value: number) => ({ name, rounds, value, unit: "ms" });
      figures.push(
        ms("resume in a fresh process, to first step", resumed.committedAt - start),
        ms("resume, of it in the runtime", resumed.committedAt - resumed.loadedAt),
      );
    }
    return figures;
  },
};
