// How long a user waits for `npm start`.
import type { Row } from "../context.ts";
import { startDevRuntime } from "../dev-runtime.ts";
import { median } from "../statistics.ts";

const times = 3;

export const start: Row = {
  name: "start",
  about: "cold start of `npm start` to ready",
  async run(context) {
    context.say("npm start");
    const took: number[] = [];
    for (let time = 0; time < times; time++) {
      const runtime = await startDevRuntime(context.folder());
      took.push(runtime.readyMs);
      await runtime.stop();
    }
    return [{ name: "npm start to ready", value: median(took), unit: "ms", note: `median of ${times}, npm included` }];
  },
};
