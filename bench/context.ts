// What a row of the benchmark is given, and what it gives: figures. Sessions are run once per length and shared by
// the rows that look at them.
import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { workerFlags } from "../lib/local/supervisor.ts";
import { runProcess } from "./run-process.ts";
import type { SessionJob, SessionReport } from "./session-process.ts";

export type Figure = {
  /** Row that measured it. */
  row: string;
  name: string;
  /** Rounds of the session; absent when it does not depend on them. */
  rounds?: number;
  value: number;
  unit: string;
  note?: string;
};

export type Row = {
  name: string;
  /** What it measures, for the help. */
  about: string;
  run: (context: Context) => Promise<Omit<Figure, "row">[]>;
};

export type Context = {
  /** Lengths of sessions, shortest first. */
  sizes: number[];
  /** A new folder on the disk of the repository, removed at the end. */
  folder(): string;
  /** The session of that many rounds, run once: its figures, and the folder in which it was left by SIGKILL with an open turn. */
  session(rounds: number): Promise<{ report: SessionReport; data: string }>;
  say(text: string): void;
  close(): void;
};

const warmUpRounds = 400;

export function createContext(options: { sizes: number[]; dir: string; say: (text: string) => void }): Context {
  const root = mkdtempSync(join(resolve(options.dir), "run-"));
  const sessions = new Map<number, Promise<{ report: SessionReport; data: string }>>();
  const folder = () => mkdtempSync(join(root, "data-"));
  const run = async (rounds: number) => {
    const data = folder();
    const job: SessionJob = {
      data,
      rounds,
      sessions: 1,
      warmUp: Math.min(warmUpRounds, rounds * 4),
      floorRounds: Math.min(400, rounds),
      die: true,
    };
    const report = await runProcess<SessionReport>("session-process.ts", job, { flags: workerFlags, dies: true });
    return { report, data };
  };
  return {
    sizes: options.sizes,
    say: options.say,
    folder,
    session(rounds) {
      const found = sessions.get(rounds) ?? run(rounds);
      sessions.set(rounds, found);
      return found;
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}
