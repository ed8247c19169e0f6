// baton export: the lines of a session, or whether their hash chain holds.
import { readFileSync, writeFileSync } from "node:fs";
import { readLines } from "../../sessions/transfer/read-lines.ts";
import { WrongUse } from "../cli-errors.ts";
import type { Run } from "../program.ts";

export const run: Run = async ({ args, options, output, client }) => {
  const [id] = args;
  const file = options.in === undefined ? undefined : String(options.in);
  if (file !== undefined && options.verify !== true) throw new WrongUse("--in goes with --verify");
  if ((id === undefined) === (file === undefined))
    throw new WrongUse("name a session, or a file with --verify --in FILE");
  const text =
    file === undefined
      ? await client.call<string>("GET", `/v1/export/sessions/${encodeURIComponent(id ?? "")}`, { text: true })
      : readFileSync(file, "utf8");
  if (options.verify === true) return verify(text, output);
  if (options.out === undefined) {
    output.write(text);
    return 0;
  }
  writeFileSync(String(options.out), text);
  output.note(`${text.split("\n").length - 1} lines written to ${String(options.out)}`);
  return 0;
};

/** 0 when the chain holds from the first event to the end line, 1 when it does not. */
function verify(text: string, output: Parameters<Run>[0]["output"]): number {
  const reading = readLines(text);
  if (!reading) throw new WrongUse("this is no export of a session");
  const { header, checkpoints, problems, complete } = reading;
  const holds = complete && problems.length === 0;
  if (output.json) output.value({ sessionId: header.sessionId, holds, versions: checkpoints.length, problems });
  else {
    output.line(
      holds
        ? `the chain holds: ${checkpoints.length} versions of session ${header.sessionId}`
        : "the chain does not hold",
    );
    for (const { line, message } of problems) output.line(`  line ${line}: ${message}`);
  }
  return holds ? 0 : 1;
}
