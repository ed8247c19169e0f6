// What the embedded interpreter adds to each state: the machine alone, with steps that do nothing.
import { createInterpreter, type StepHandlers } from "../../lib/local/interpreter.ts";
import type { StepOutput } from "../../lib/steps/io.ts";
import type { Row } from "../context.ts";

export const interpreter: Row = {
  name: "interpreter",
  about: "time of the embedded interpreter per state",
  async run(context) {
    const rounds = Math.min(2000, context.sizes.at(-1) ?? 2000);
    context.say("the interpreter alone");
    await walk(Math.ceil(rounds / 2));
    const { ms, states } = await walk(rounds);
    return [
      { name: "interpreter per state", value: (ms / states) * 1000, unit: "µs", note: "steps that do nothing" },
      { name: "interpreter per round", value: ms / rounds, unit: "ms" },
    ];
  },
};

async function walk(rounds: number): Promise<{ ms: number; states: number }> {
  const at = { tenant: "bench", sessionId: "20260101_000000_00000000", turn: 1, segment: 0 };
  const output = (next: StepOutput["next"]): StepOutput => ({
    ...at,
    execution: "bench",
    next,
    calls: next === "act" ? [0] : [],
    waitSeconds: 0,
    handOver: "",
  });
  let [asked, states] = [0, 0];
  const nothing = async () => ({});
  const handlers: StepHandlers = {
    begin: async () => output("think"),
    think: async () => output(++asked <= rounds ? "act" : "finish"),
    act: nothing,
    ask: nothing,
    compact: nothing,
    finish: async () => output("done"),
    fail: async () => output("done"),
  };
  const machine = createInterpreter({
    handlers,
    onEvent: (event) => {
      if (event.kind === "entered") states += 1;
    },
  });
  const start = performance.now();
  await machine.start("bench", { ...at, cause: "" });
  await machine.idle();
  return { ms: performance.now() - start, states };
}
