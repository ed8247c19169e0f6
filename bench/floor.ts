// What durability costs at least on this disk: one JSON line per step, synced before the next one, two a round.
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { prose, replyChars, resultChars } from "./workload.ts";

/** Milliseconds of each round, written into a file of its own in `dir` that is removed afterwards. */
export function measureFloor(dir: string, rounds: number): number[] {
  const file = join(dir, "floor.jsonl");
  const handle = openSync(file, "a");
  const write = (seed: number, chars: number) => {
    writeSync(handle, `${JSON.stringify({ step: seed, at: Date.now(), text: prose(seed, chars) })}\n`);
    fsyncSync(handle);
  };
  const took: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    const start = performance.now();
    write(round * 2, replyChars);
    write(round * 2 + 1, resultChars);
    took.push(performance.now() - start);
  }
  closeSync(handle);
  rmSync(file);
  return took;
}
