#!/usr/bin/env node
// The CLI. Everything is in lib/cli; commands load what they need when they run.
import { main } from "../lib/cli/main.ts";

process.exitCode = await main(process.argv.slice(2));
