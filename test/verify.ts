// npm test: all that CI runs, in one command, with the counts of the run in its last line. A stage that is
// not a test run counts as one test.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Stage = { name: string; command: string[] };

const stages: Stage[] = [
  { name: "format and lint", command: ["biome", "ci", "."] },
  { name: "types", command: ["tsc", "-p", "."] },
];
const suites: { name: string; filter: string[] }[] = [
  { name: "architecture and unit", filter: ["test/architecture", "test/adapters", "test/api", "test/cli", "test/core", "test/demo-model", "test/local", "test/mail", "test/sessions", "test/steps", "test/store", "test/testing", "test/workflow", "test/contract", "examples"] },
  { name: "hazards", filter: ["test/hazards"] },
  { name: "crash", filter: ["test/crash"] },
  { name: "cdk", filter: ["test/constructs", "test/lambdas"] },
  { name: "docs", filter: ["test/docs"] },
  { name: "end to end", filter: ["test/e2e"] },
];

const folder = mkdtempSync(join(tmpdir(), "baton-verify-"));
let passed = 0;
let failed = 0;
let skipped = 0;

for (const stage of stages) {
  console.log(`\n== ${stage.name}`);
  if (run(stage.command)) passed++;
  else failed++;
}
for (const [i, suite] of suites.entries()) {
  console.log(`\n== ${suite.name}`);
  const report = join(folder, `${i}.json`);
  const ok = run(["vitest", "run", "--reporter=dot", "--reporter=json", `--outputFile.json=${report}`, ...suite.filter]);
  const counts = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : {};
  passed += counts.numPassedTests ?? 0;
  failed += counts.numFailedTests ?? 0;
  skipped += counts.numPendingTests ?? 0;
  // A file that cannot be loaded has no test to fail, and the run must not pass for it.
  if (!ok && !counts.numFailedTests) failed++;
}
rmSync(folder, { recursive: true, force: true });
console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = failed > 0 ? 1 : 0;

function run([tool = "", ...args]: string[]): boolean {
  return spawnSync(tool, args, { stdio: "inherit" }).status === 0;
}
