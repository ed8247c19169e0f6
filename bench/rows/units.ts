// What a session costs on AWS: bytes and units of DynamoDB, transitions of Step Functions. Counted, not timed, with
// one store per step, as each Lambda function has its own cache; "cold" has none at all.
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createMemoryTable } from "../../lib/adapters/memory-table.ts";
import { buildRuntime } from "../../lib/local/build-runtime.ts";
import { createInterpreter, type StepHandlers } from "../../lib/local/interpreter.ts";
import { createSteps } from "../../lib/steps/index.ts";
import { stepNames } from "../../lib/steps/io.ts";
import { createStore } from "../../lib/store/index.ts";
import type { Row } from "../context.ts";
import { measureTable, type Units } from "../measuring-table.ts";
import { benchAgent, benchModel, startSession } from "../workload.ts";

/** US dollars per million, us-east-1 (aws-facts.md). */
const prices = { writeUnit: 0.625, readUnit: 0.125, transition: 25 };

export const units: Row = {
  name: "units",
  about: "bytes, DynamoDB units and state transitions per round",
  async run(context) {
    const figures = [];
    for (const rounds of context.sizes) {
      context.say(`counting a session of ${rounds} rounds`);
      const { units, transitions } = await count(rounds);
      const per = (name: string, total: number, unit: string) => ({ name, rounds, value: total / rounds, unit });
      const usd = units.writeUnits * prices.writeUnit + units.readUnits * prices.readUnit;
      figures.push(
        per("bytes written per round", units.writtenBytes, "B"),
        per("write units per round", units.writeUnits, "WRU"),
        per("read units per round, warm functions", units.readUnits, "RRU"),
        per("transitions per round", transitions, ""),
        per("DynamoDB per 1,000 rounds", usd / 1000, "USD"),
        per("transitions per 1,000 rounds", (transitions * prices.transition) / 1000, "USD"),
      );
    }
    const short = context.sizes[0] ?? 100;
    const cold = await count(short, 0);
    const value = cold.units.readUnits / short;
    figures.push({ name: "read units per round, every function cold", rounds: short, value, unit: "RRU" });
    return figures;
  },
};

async function count(rounds: number, cacheBytes?: number): Promise<{ units: Units; transitions: number }> {
  const table = measureTable(createMemoryTable({ now: Date.now }));
  const blobs = createMemoryBlobs();
  const silent = () => {};
  const { deps } = buildRuntime({
    agents: new Map([["bench", benchAgent()]]),
    model: benchModel({ rounds }),
    table,
    blobs,
    log: { info: silent, warn: silent, error: silent },
  });
  const own = stepNames.map((name) => {
    const store = createStore({ table, blobs, clock: deps.clock, ...(cacheBytes === undefined ? {} : { cacheBytes }) });
    return { name, deps: { ...deps, store } };
  });
  const handlers = Object.fromEntries(own.map(({ name, deps }) => [name, createSteps(deps)[name]])) as StepHandlers;
  let transitions = 0;
  const interpreter = createInterpreter({
    handlers,
    onEvent: (event) => {
      if (event.kind === "entered") transitions += 1;
    },
  });
  for (const target of [deps, ...own.map((one) => one.deps)]) target.orchestrator = interpreter;
  await startSession(deps, 1);
  await interpreter.idle();
  return { units: table.units(), transitions };
}
