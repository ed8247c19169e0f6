// A flow of slow tools, that does no harm.
import { setTimeout as sleep } from "node:timers/promises";
import { defineFlow, defineTool, step } from "baton";
import * as z from "zod";

const slowMs = 800;
const State = z.object({ said: z.string(), crawled: z.int() });
type Crawled = z.infer<typeof State>;

const crawl = defineTool({
  name: "crawl",
  description: "Takes its time.",
  input: z.object({ n: z.int() }),
  effect: "idempotent",
  run: async ({ n }, { signal }) => {
    await sleep(slowMs, undefined, { signal });
    return n;
  },
});

const crawlOn = (name: string) =>
  step(name, {
    tool: crawl,
    input: ({ crawled }: Crawled) => ({ n: crawled + 1 }),
    into: (state: Crawled, n: unknown) => ({ ...state, crawled: Number(n) }),
  });

export default defineFlow({
  name: "crawler",
  state: State,
  initial: (said) => ({ said, crawled: 0 }),
  steps: [crawlOn("first"), crawlOn("second"), crawlOn("third")],
  answer: ({ said, crawled }) => `${said}: ${crawled}`,
});
