// One session, embedded: how long a round takes, whether that grows with the session, and what memory it needs.
import type { Row } from "../context.ts";
import { mean, median } from "../statistics.ts";

export const rounds: Row = {
  name: "rounds",
  about: "time per round of one session, first and last tenth, floor, peak memory",
  async run(context) {
    const figures = [];
    for (const rounds of context.sizes) {
      context.say(`one session of ${rounds} rounds`);
      const { report } = await context.session(rounds);
      const took = report.roundMs[0] ?? [];
      const tenth = Math.max(1, Math.floor(took.length / 10));
      const [first, last] = [took.slice(0, tenth), took.slice(-tenth)];
      const ms = (name: string, value: number, unit = "ms") => ({ name, rounds, value, unit });
      figures.push(
        ms("per round, mean", mean(took)),
        ms("per round, median", median(took)),
        ms("floor per round, mean", mean(report.floorMs)),
        ms("floor per round, median", median(report.floorMs)),
        ms("per round / floor, medians", median(took) / median(report.floorMs), "x"),
        ms("processor time per round", report.cpuMs / took.length),
        ms("first tenth, median", median(first)),
        ms("last tenth, median", median(last)),
        ms("last / first tenth, medians", median(last) / median(first), "x"),
        ms("peak memory", report.peakBytes / 1e6, "MB"),
      );
    }
    return figures;
  },
};
