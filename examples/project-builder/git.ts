// git as a store of finished work. Nothing of the machine's or the project's git configuration applies: no hooks that a
// model could have written, no signing, no editor, no repository further up.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A git command of a process that was killed may still be at its end; then the lock goes away within moments. */
const lockTries = 50;
const lockWaitMs = 100;

/** What the command prints. Throws with git's own message. */
export async function git(workspace: string, args: string[], signal?: AbortSignal): Promise<string> {
  const fixed = [`--git-dir=${join(workspace, ".git")}`, `--work-tree=${workspace}`, ...options];
  for (let attempt = 1; ; attempt++) {
    try {
      const { stdout } = await run("git", [...fixed, ...args], {
        cwd: workspace,
        env: { PATH: process.env.PATH, HOME: workspace, ...environment },
        ...(signal ? { signal } : {}),
        timeout: 30_000,
        maxBuffer: 16 * 1024 * 1024,
      });
      return stdout.trim();
    } catch (error) {
      const { stderr = "" } = error as { stderr?: string };
      if (!/\.lock'?: File exists/.test(stderr) || attempt === lockTries) {
        throw new Error(`git ${args[0]} failed: ${stderr.trim() || (error as Error).message}`);
      }
      await wait(lockWaitMs, undefined, signal ? { signal } : {});
    }
  }
}

/** Makes the folder a repository; again is harmless. */
export async function ensureRepository(workspace: string, signal?: AbortSignal): Promise<void> {
  mkdirSync(workspace, { recursive: true });
  if (!existsSync(join(workspace, ".git", "HEAD"))) await git(workspace, ["init", "-q", "-b", "main"], signal);
}

export type Commit = { commit: string; subject: string; feature: string; turn: number; keys: string[] };

/** Newest first; empty before the first commit. */
export async function readLog(workspace: string, signal?: AbortSignal): Promise<Commit[]> {
  if (!existsSync(join(workspace, ".git", "HEAD"))) return [];
  const head = await git(workspace, ["rev-parse", "-q", "--verify", "HEAD"], signal).catch(() => "");
  if (head === "") return [];
  const trailer = (key: string) => `%(trailers:key=${key},valueonly,separator=%x2C)`;
  const format = ["%H", "%s", trailer("Baton-Feature"), trailer("Baton-Turn"), trailer("Baton-Key")].join("%x1f");
  const text = await git(workspace, ["log", `--format=${format}%x1e`], signal);
  return text.split("\x1e").flatMap((entry): Commit[] => {
    const [commit = "", subject = "", feature = "", turn = "", keys = ""] = entry.trim().split("\x1f");
    return commit === "" ? [] : [{ commit, subject, feature, turn: Number(turn), keys: keys.split(",") }];
  });
}

const options = [
  "user.name=Baton",
  "user.email=baton@localhost",
  "commit.gpgsign=false",
  "core.hooksPath=/dev/null",
].flatMap((option) => ["-c", option]);

const environment = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "true",
  LC_ALL: "C",
};
