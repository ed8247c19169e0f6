// Leads the folder back to a commit, as a rollback leads the session back to a version. What is left behind keeps a
// tag, so nothing is lost.
import { createHash } from "node:crypto";
import { defineTool, type ToolContext } from "baton";
import * as z from "zod";
import { git, readLog } from "./git.ts";
import { workspaceOf } from "./workspace.ts";

const input = z.strictObject({
  commit: z
    .string()
    .regex(/^[0-9a-f]{7,40}$/)
    .describe("Hash from git_log."),
});

export const restoreWorkspace = defineTool({
  name: "restore_workspace",
  description:
    "Sets the project's folder back to a commit of git_log: files as they were then, everything newer away. For when the session was rolled back, or a wrong direction was taken. What is left stays under a tag.",
  input,
  effect: "idempotent",
  run: ({ commit }, ctx) => restore(commit, ctx),
});

async function restore(commit: string, ctx: ToolContext) {
  const workspace = workspaceOf(ctx);
  const log = await readLog(workspace, ctx.signal);
  const tag = `before-restore-${createHash("sha256").update(ctx.idempotencyKey).digest("hex").slice(0, 12)}`;
  // First the tag: when it is there, an earlier run of this call has seen what was to be kept.
  const known = await git(workspace, ["tag", "--list", tag], ctx.signal);
  const target = log.find((candidate) => candidate.commit.startsWith(commit));
  if (!target) throw new Error(`git_log knows no commit ${commit}`);
  if (known === "") {
    await git(workspace, ["add", "-A"], ctx.signal);
    const kept = await git(workspace, ["stash", "create"], ctx.signal);
    await git(workspace, ["tag", tag, kept || "HEAD"], ctx.signal);
  }
  await git(workspace, ["reset", "-q", "--hard", target.commit], ctx.signal);
  await git(workspace, ["clean", "-fdq"], ctx.signal);
  return { commit: target.commit, feature: target.feature, keptAs: tag };
}
