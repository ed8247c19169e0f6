// A flow whose only tool kills the worker each time that it runs, which it does when it is told to.
import { defineFlow, defineTool, step } from "baton";
import * as z from "zod";

const detonate = defineTool({
  name: "detonate",
  description: "Kills the process.",
  input: z.object({}),
  effect: "idempotent",
  run: () => {
    process.kill(process.pid, "SIGKILL");
    // A signal to oneself arrives a little later.
    return new Promise<never>(() => {});
  },
});

const State = z.object({ said: z.string() });

export default defineFlow({
  name: "killer",
  state: State,
  initial: (said) => ({ said }),
  steps: [
    step("detonate", {
      tool: detonate,
      when: ({ said }: z.infer<typeof State>) => said === "detonate",
      input: () => ({}),
      into: (state: z.infer<typeof State>) => state,
    }),
  ],
  answer: ({ said }) => said,
});
