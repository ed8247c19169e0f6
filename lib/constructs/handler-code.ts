// The code of a Lambda handler with the author's agent in it, made at synth with local esbuild: no Docker.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Stack } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { InvalidDefinition } from "../core/errors.ts";
import { stepNames } from "../steps/io.ts";

/** lambdas/`name`.ts for each of these. */
export const handlerNames = [...stepNames, "api", "authorizer", "recover", "sweep", "batch", "remember"] as const;
export type HandlerName = (typeof handlerNames)[number];

/** `index.handler` of lambdas/`name`.ts. Throws InvalidDefinition when `entry` is missing or does not bundle. */
export function handlerCode(scope: Construct, name: HandlerName, entry: string): Code {
  const file = resolve(entry);
  if (!existsSync(file)) throw new InvalidDefinition(`Agent.entry: there is no file ${file}`);
  // `cdk ls`, `cdk destroy` and tests of the template need no code.
  if (!Stack.of(scope).bundlingRequired) return Code.fromInline("export const handler = () => {};");
  return Code.fromAsset(join(bundles(file), name));
}

const made = new Map<string, string>();

/** One process bundles all handlers of an entry, once per synth. CDK copies what it needs into its own output. */
function bundles(entry: string): string {
  const found = made.get(entry);
  if (found) return found;
  const dir = mkdtempSync(join(tmpdir(), "baton-bundle-"));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  const cli = fileURLToPath(new URL("bundle-cli.ts", import.meta.url));
  const run = spawnSync(process.execPath, [cli, entry, dir, ...handlerNames], { encoding: "utf8" });
  if (run.status !== 0)
    throw new InvalidDefinition(`Agent.entry: ${entry} does not bundle: ${run.stderr || run.error}`);
  made.set(entry, dir);
  return dir;
}
