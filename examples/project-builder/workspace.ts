// The folder that a project is built in, and the one way into it: every path that a model names is resolved here and
// stays inside, outside of .git.
import { createHash } from "node:crypto";
import { mkdirSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

/** PROJECT_DIR, else a folder under BATON_DATA for each conversation. It outlives resets of the session. */
export function workspaceOf({ tenant, key }: { tenant: string; key: string }): string {
  if (process.env.PROJECT_DIR) return resolve(process.env.PROJECT_DIR);
  const hash = createHash("sha256").update(`${tenant}#${key}`).digest("hex").slice(0, 8);
  const name = key.replace(/[^A-Za-z0-9]+/g, "-").slice(0, 40);
  return resolve(process.env.BATON_DATA || ".baton", "projects", `${name}-${hash}`);
}

/** The absolute path of `path` in the workspace. Throws for one that leads out of it, links included, or into .git. */
export function inside(workspace: string, path: string): string {
  mkdirSync(workspace, { recursive: true });
  const target = resolve(workspace, path);
  const parts = relative(workspace, target).split(sep);
  if (target === workspace || parts[0] === ".." || parts.some((part) => part.toLowerCase() === ".git")) {
    throw new Error(`"${path}" is not a file of the project`);
  }
  const real = join(realpathSync(existing(dirname(target))), "x");
  if (relative(realpathSync(workspace), real).startsWith("..")) throw new Error(`"${path}" leads out of the project`);
  return target;
}

function existing(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return existing(dirname(folder));
  }
}
