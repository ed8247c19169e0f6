// One commit a feature. The call's idempotency key stands in a trailer of the commit, so that a run after a crash finds
// what the run before it has done.
import { defineTool, type ToolContext } from "baton";
import * as z from "zod";
import { ensureRepository, git, readLog } from "./git.ts";
import { workspaceOf } from "./workspace.ts";

const input = z.strictObject({
  feature: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
    .describe('Id of the feature; "plan" for the first commit.'),
  message: z.string().min(1).max(200).describe("What was done, in one line."),
});
type Input = z.infer<typeof input>;

export const commitFeature = defineTool({
  name: "commit_feature",
  description:
    "Commits everything in the project's folder as the work on one feature. Call it when the feature's check has succeeded, before complete_feature.",
  input,
  effect: "idempotent",
  resources: ({ commit }: { commit: string }) => [`commit ${commit}`],
  run: ({ feature, message }, ctx) => commit({ feature, message }, ctx),
});

async function commit({ feature, message }: Input, ctx: ToolContext) {
  const workspace = workspaceOf(ctx);
  await ensureRepository(workspace, ctx.signal);
  const log = await readLog(workspace, ctx.signal);
  const done = log.find(({ keys }) => keys.includes(ctx.idempotencyKey));
  if (done) return { feature, commit: done.commit };
  await git(workspace, ["add", "-A"], ctx.signal);
  // An earlier try at the same feature: its commit is completed, so that the feature stays one.
  const before = log[0]?.feature === feature ? log[0] : undefined;
  const trailers = [
    `Baton-Feature: ${feature}`,
    `Baton-Session: ${ctx.sessionId}`,
    `Baton-Turn: ${ctx.turn}`,
    ...[...(before?.keys ?? []), ctx.idempotencyKey].map((key) => `Baton-Key: ${key}`),
  ];
  const subject = `${feature}: ${message.replace(/\s+/g, " ").trim()}`;
  const how = ["commit", "-q", "--allow-empty", ...(before ? ["--amend"] : [])];
  await git(workspace, [...how, "-m", subject, "-m", trailers.join("\n")], ctx.signal);
  return { feature, commit: await git(workspace, ["rev-parse", "HEAD"], ctx.signal) };
}
