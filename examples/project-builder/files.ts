// Reading and writing the project's files. Writing the same again is the same file, whatever died in between.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { defineTool } from "baton";
import * as z from "zod";
import { readLog } from "./git.ts";
import { inside, workspaceOf } from "./workspace.ts";

const maxChars = 100_000;
const path = z.string().min(1).max(300).describe("Relative to the project's folder.");

export const readFile = defineTool({
  name: "read_file",
  description: 'Reads a text file of the project. Path "." lists all files.',
  input: z.strictObject({ path }),
  effect: "read",
  run: ({ path }, ctx) => {
    const workspace = workspaceOf(ctx);
    if (path === ".") return { files: listFiles(workspace) };
    return { path, text: readFileSync(inside(workspace, path), "utf8").slice(0, maxChars).toWellFormed() };
  },
});

export const writeFile = defineTool({
  name: "write_file",
  description: "Writes a text file of the project, whole. An existing one is replaced.",
  input: z.strictObject({ path, text: z.string().max(maxChars) }),
  effect: "idempotent",
  run: ({ path, text }, ctx) => {
    const target = inside(workspaceOf(ctx), path);
    mkdirSync(dirname(target), { recursive: true });
    // Whole or not at all: a reader never meets half of it.
    const partial = `${target}.${process.pid}.partial`;
    writeFileSync(partial, text);
    renameSync(partial, target);
    return { path, chars: text.length };
  },
});

export const gitLog = defineTool({
  name: "git_log",
  description: "The project's commits, newest first, each with the feature and the turn that made it.",
  input: z.strictObject({ limit: z.int().min(1).max(100).default(20) }),
  effect: "read",
  run: async ({ limit }, ctx) => {
    const log = await readLog(workspaceOf(ctx), ctx.signal);
    return {
      commits: log.slice(0, limit).map(({ commit, subject, feature, turn }) => ({ commit, subject, feature, turn })),
    };
  },
});

function listFiles(workspace: string): string[] {
  return readdirSync(workspace, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(workspace.length + 1))
    .filter((file) => !file.startsWith(".git/"))
    .sort();
}
