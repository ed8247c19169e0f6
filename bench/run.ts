// `npm run bench`: runs the rows, prints a table, keeps the figures in .bench/latest.json. Ends with 0 whatever the
// figures are, and with 1 when a row could not be measured.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { createContext, type Figure, type Row } from "./context.ts";
import { printTable, type Report } from "./print-table.ts";
import { rows } from "./rows.ts";
import { judge } from "./targets.ts";

const root = resolve(import.meta.dirname, "..");
const dir = join(root, ".bench");
const usualSizes = [100, 1000, 10_000];
/** Less would leave no tenth to look at. */
const fewestRounds = 10;

type Options = { rounds: number; only?: string[]; json?: boolean };

const rowHelp = rows.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join("\n");

const command = new Command("npm run bench --")
  .description("Measures Baton on its common workload; see bench/workload.ts.")
  .option("--rounds <n>", "longest session; the shorter usual ones are run too", wholeRounds, usualSizes.at(-1))
  .addOption(new Option("--only <row...>", "measure only these rows").choices(rows.map(({ name }) => name)))
  .option("--json", "print the figures as JSON")
  .addHelpText("after", `\nRows:\n${rowHelp}`)
  .showHelpAfterError()
  .action(main);
await command.parseAsync();

async function main(options: Options): Promise<void> {
  mkdirSync(dir, { recursive: true });
  const sizes = [...usualSizes.filter((size) => size < options.rounds), options.rounds];
  const say = (text: string) => void process.stderr.write(`… ${text}\n`);
  const context = createContext({ sizes, dir, say });
  const figures: Figure[] = [];
  const failed: Report["failed"] = [];
  try {
    for (const row of rows.filter(({ name }) => options.only?.includes(name) ?? true)) {
      await measure(row).catch((error: unknown) => {
        failed.push({ row: row.name, message: error instanceof Error ? error.message : String(error) });
      });
    }
  } finally {
    context.close();
  }
  const report: Report = { at: new Date().toISOString(), machine: machine(), figures, targets: judge(figures), failed };
  const json = `${JSON.stringify(report, null, 2)}\n`;
  writeFileSync(join(dir, "latest.json"), json);
  process.stdout.write(options.json ? json : printTable(report));
  if (failed.length > 0) process.exitCode = 1;

  async function measure(row: Row): Promise<void> {
    figures.push(...(await row.run(context)).map((figure) => ({ row: row.name, ...figure })));
  }
}

function machine(): Report["machine"] {
  const [cpu] = cpus();
  return {
    node: process.version,
    cpu: cpu?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    commit: commit(),
  };
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
  } catch {
    // A copy without its history measures as well.
    return "unknown";
  }
}

function wholeRounds(text: string): number {
  const rounds = Number(text);
  if (Number.isInteger(rounds) && rounds >= fewestRounds && rounds <= 90_000) return rounds;
  throw new InvalidArgumentError(`use a whole number from ${fewestRounds} to 90000`);
}
