// Bundles handlers in a process of their own: esbuild's plugins are asynchronous and constructs are not.
// node bundle-cli.ts <agent entry> <output directory> <handler>…
import { join } from "node:path";
import { bundleLambda } from "./bundling.ts";

const [agentEntry = "", dir = "", ...names] = process.argv.slice(2);
try {
  await Promise.all(names.map((name) => bundleLambda(name, agentEntry, join(dir, name))));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
