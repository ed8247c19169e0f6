// How long a process without any cache needs to find the latest checkpoint and to build the model's context.
import type { Row } from "../context.ts";
import type { LoadJob, LoadReport } from "../load-process.ts";
import { runProcess } from "../run-process.ts";
import { median } from "../statistics.ts";

export const load: Row = {
  name: "load",
  about: "time to load the latest checkpoint and to build the context, nothing cached",
  async run(context) {
    const sessions = [];
    for (const rounds of context.sizes) {
      const { report, data } = await context.session(rounds);
      sessions.push({ rounds, data, sessionId: report.sessionIds[0] ?? "" });
    }
    context.say("loading checkpoints and contexts");
    const job: LoadJob = { sessions, times: 60 };
    const report = await runProcess<LoadReport>("load-process.ts", job);
    return report.flatMap(({ rounds, headMs, contextMs, contextTokens }) => [
      { name: "load latest checkpoint, median", rounds, value: median(headMs), unit: "ms" },
      { name: "build context, median", rounds, value: median(contextMs), unit: "ms" },
      { name: "context", rounds, value: contextTokens, unit: "tokens" },
    ]);
  },
};
