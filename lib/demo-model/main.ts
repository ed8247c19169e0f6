// Runs the demo model alone: `node lib/demo-model/main.ts --port 0` prints one JSON line {"url": …}.
import { parseArgs } from "node:util";
import { createDemoModelServer } from "./server.ts";

const { values } = parseArgs({
  options: { port: { type: "string", default: "0" }, latency: { type: "string", default: "15" } },
});
const server = await createDemoModelServer({ port: Number(values.port), latencyMs: Number(values.latency) });
console.log(JSON.stringify({ url: server.url }));
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void server.close());
