// The checks that prove features: real programs, shipped here and chosen by name. They lie outside of the project's folder
// and only read it, so that what is built can bend neither them nor this machine.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { defineTool } from "baton";
import * as z from "zod";
import { workspaceOf } from "./workspace.ts";

const run = promisify(execFile);

/** What each one demands, for whoever plans. */
export const checks = {
  page: "index.html: a doctype, a language, a title, one h1, a paragraph",
  style: "style.css styles body within a max-width, loads nothing from elsewhere, and index.html uses it",
  data: "data.json: at least three entries {name, text}, no name twice",
  list: "data.html shows every entry of data.json and uses style.css",
  links: "every page links to every other page, and every link leads to a file of the project",
} as const;

const names = Object.keys(checks) as [keyof typeof checks, ...(keyof typeof checks)[]];
const described = Object.entries(checks)
  .map(([name, what]) => `${name}: ${what}`)
  .join("; ");

export const runCheck = defineTool({
  name: "run_check",
  description: `Runs one check over the project's folder; answers when it passes, fails with what is wrong. Checks: ${described}.`,
  input: z.strictObject({ name: z.enum(names) }),
  effect: "read",
  timeout: "30s",
  run: async ({ name }, ctx) => {
    const script = join(import.meta.dirname, "checks", `${name}.ts`);
    try {
      const { stdout } = await run(process.execPath, [script, workspaceOf(ctx)], {
        env: { PATH: process.env.PATH },
        signal: ctx.signal,
        timeout: 20_000,
        killSignal: "SIGKILL",
      });
      return { name, passed: true, output: stdout.trim().slice(0, 2000) };
    } catch (error) {
      const { stderr = "", killed } = error as { stderr?: string; killed?: boolean };
      const why = killed ? "it did not end in time" : stderr.trim() || (error as Error).message;
      throw new Error(`check "${name}" does not pass: ${why.slice(0, 2000)}`);
    }
  },
});
