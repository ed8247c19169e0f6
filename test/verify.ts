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
/** What has a suite of its own; the first suite is all the rest, so that no file is forgotten. */
const suites: { name: string; folders: string[] }[] = [
  { name: "hazards", folders: ["test/hazards"] },
  { name: "crash", folders: ["test/crash"] },
  { name: "soak", folders: ["test/soak"] },
  { name: "cdk", folders: ["test/constructs", "test/lambdas"] },
  { name: "docs", folders: ["test/docs"] },
  { name: "end to end", folders: ["test/e2e"] },
];
const rest = suites.flatMap(({ folders }) => folders.flatMap((name) => ["--exclude", `${name}/**`]));
const runs = [
  { name: "architecture, unit and contract", options: rest },
  ...suites.map(({ name, folders }) => ({ name, options: folders })),
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
for (const [i, suite] of runs.entries()) {
  console.log(`\n== ${suite.name}`);
  const report = join(folder, `${i}.json`);
  const ok = run([
    "vitest",
    "run",
    "--reporter=dot",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...suite.options,
  ]);
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
