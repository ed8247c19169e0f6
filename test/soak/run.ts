// `npm run soak`: episodes of the soak test for as long as wanted, each with its seed and what happened in it. Ends with 1
// at the first that goes wrong.
import { Command, InvalidArgumentError } from "commander";
import { runEpisode } from "./run-episode.ts";

const command = new Command("npm run soak --")
  .description("Soaks Baton: sessions over dying workers, lost answers, repeated messages and clock steps.")
  .option("--minutes <n>", "begin no further episode after this", minutes, 1)
  .option("--seed <n>", "play this episode, and no other", wholeNumber)
  .showHelpAfterError()
  .action(main);
await command.parseAsync();

async function main(options: { minutes: number; seed?: number }): Promise<void> {
  const end = Date.now() + options.minutes * 60_000;
  const first = options.seed ?? Date.now() % 1_000_000;
  let seed = first;
  do {
    if (!(await play(seed++))) {
      process.exitCode = 1;
      return;
    }
  } while (options.seed === undefined && Date.now() < end);
  console.log(`${seed - first} episodes, all well`);
}

async function play(seed: number): Promise<boolean> {
  const start = performance.now();
  // A line before it: an episode that hangs or ends the process is known by its seed too.
  process.stdout.write(`seed ${seed}: `);
  const { wrong, seed: _, ...counts } = await runEpisode(seed);
  console.log(`${Math.round(performance.now() - start)} ms ${JSON.stringify(counts)}`);
  if (wrong.length === 0) return true;
  console.error([`seed ${seed} went wrong:`, ...wrong, `again: npm run soak -- --seed ${seed}`].join("\n  "));
  return false;
}

function minutes(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError("use a number of minutes above 0");
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError("use a whole number from 0");
}
