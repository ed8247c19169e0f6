// From the command line to an exit code: 0 done, 1 failed, 2 wrong use. Nothing here calls process.exit, so that what
// was printed reaches a pipe.
import { CommanderError } from "commander";
import { ProblemError, WrongUse } from "./cli-errors.ts";
import { createOutput } from "./output.ts";
import { buildProgram } from "./program.ts";

export async function main(args: string[]): Promise<number> {
  let code = 0;
  // `baton … | head` closes the pipe: nobody reads on, which is no fault.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  const program = buildProgram((result) => {
    code = result;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    sayError(error, args.includes("--json"));
    return error instanceof WrongUse ? 2 : 1;
  }
}

function sayError(error: unknown, json: boolean): void {
  const output = createOutput({ json });
  if (json && error instanceof ProblemError) {
    output.error(JSON.stringify(error.problem));
    return;
  }
  output.error(`baton: ${error instanceof Error ? error.message : String(error)}`);
  if (!(error instanceof ProblemError)) return;
  for (const field of error.problem.errors ?? []) output.error(`  ${field.path}: ${field.message}`);
}
