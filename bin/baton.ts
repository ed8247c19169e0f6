#!/usr/bin/env node
// The CLI. Everything is in lib/cli; commands load what they need when they run. What is compiled once is kept
// (Node's compile cache, also for the runtime's processes), which halves the time to start.
import { enableCompileCache } from "node:module";

enableCompileCache();
const { main } = await import("../lib/cli/main.ts");
process.exitCode = await main(process.argv.slice(2));
