// The five-step session of the crash tests: read, read, idempotent, read, once, as an agent and as a flow.
import { defineAgent, defineFlow, defineTool, step, type Verdict } from "baton";
import * as z from "zod";
import type { ReplyLine } from "../../lib/demo-model/script-line.ts";

/** What the outside world remembers, across processes. */
export type Witness = { filed: Map<string, number>; saved: Map<string, number> };
export const newWitness = (): Witness => ({ filed: new Map(), saved: new Map() });

const input = z.object({ n: z.int() });

export function relayTools(witness: Witness, options: { verify?: boolean } = {}) {
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
  const read = (name: string) =>
    defineTool({ name, description: `reads ${name}`, input, effect: "read", run: ({ n }) => ({ [name]: n * 2 }) });
  const save = defineTool({
    name: "save",
    description: "saves under a key",
    input,
    effect: "idempotent",
    run: ({ n }, ctx) => {
      count(witness.saved, ctx.idempotencyKey);
      return { saved: n };
    },
  });
  const file = defineTool({
    name: "file",
    description: "files a report, once",
    input,
    effect: "once",
    run: ({ n }, ctx) => {
      count(witness.filed, ctx.idempotencyKey);
      return { receipt: `R-${n}` };
    },
    ...(options.verify === false
      ? {}
      : {
          verify: (key: string, { n }: { n: number }): Verdict =>
            witness.filed.has(key) ? { status: "done", result: { receipt: `R-${n}` } } : "not_done",
        }),
  });
  return { fetch: read("fetch"), screen: read("screen"), assess: read("assess"), save, file };
}

export function relayAgent(witness: Witness, options: { verify?: boolean } = {}) {
  const { fetch, screen, assess, save, file } = relayTools(witness, options);
  return defineAgent({
    name: "relay",
    instructions: "Do the five steps.",
    model: { id: "scripted" },
    tools: [fetch, screen, save, assess, file],
  });
}

export const relayScript: ReplyLine[] = [
  { text: "Fetching.", calls: [{ name: "fetch", input: { n: 1 } }] },
  { calls: [{ name: "screen", input: { n: 2 } }] },
  { calls: [{ name: "save", input: { n: 3 } }] },
  { calls: [{ name: "assess", input: { n: 4 } }] },
  { calls: [{ name: "file", input: { n: 5 } }] },
  { text: "Done: R-5." },
];

const State = z.object({ log: z.array(z.string()) });

export function relayFlow(witness: Witness) {
  const { fetch, save, file } = relayTools(witness);
  const told = (state: z.infer<typeof State>, output: unknown) => ({ log: [...state.log, JSON.stringify(output)] });
  return defineFlow({
    name: "relay-flow",
    state: State,
    model: { id: "scripted" },
    initial: (text) => ({ log: [text] }),
    steps: [
      step("fetch", { tool: fetch, input: () => ({ n: 1 }), into: told }),
      step("note", (state: z.infer<typeof State>) => ({ log: [...state.log, "noted"] })),
      step("save", { tool: save, input: () => ({ n: 3 }), into: told }),
      step("never", (state: z.infer<typeof State>) => ({ log: [...state.log, "never"] }), { when: () => false }),
      step("narrative", {
        prompt: (state: z.infer<typeof State>) => `Sum up ${state.log.length} lines`,
        into: (state: z.infer<typeof State>, text: string) => ({ log: [...state.log, text] }),
      }),
      step("file", { tool: file, input: () => ({ n: 5 }), into: told }),
    ],
    answer: (state) => state.log.join(" | "),
  });
}

export const relayFlowScript: ReplyLine[] = [{ text: "All is well." }];
