// The commands as a table: names, options, and where the code is. A command's file is loaded when it runs, so that
// --help and short commands start fast.
import { Command, InvalidArgumentError } from "commander";
import { type Client, createClient } from "./client.ts";
import { createConnect } from "./connection.ts";
import { createOutput, type Output } from "./output.ts";

export type Invocation = {
  args: string[];
  options: Record<string, string | number | boolean | undefined>;
  output: Output;
  client: Client;
};

/** Answers the exit code. */
export type Run = (invocation: Invocation) => Promise<number>;

type Option = { flags: string; description: string; integer?: { min: number; max: number } };
type Row = { usage: string; description: string; options?: Option[]; load: () => Promise<{ run: Run }> };

const key = { flags: "--key <key>", description: "session key: the stable address of a conversation" };
const agent = { flags: "--agent <name>", description: "agent for a new conversation" };

export const commands: Row[] = [
  {
    usage: "dev",
    description: "run the embedded runtime: supervisor, worker, API, console",
    options: [
      { flags: "--port <port>", description: "0 takes a free one", integer: { min: 0, max: 65_535 } },
      { flags: "--data <folder>", description: "where sessions and mail are kept" },
      { flags: "--agent <module>", description: "module with a default-exported agent; several with commas" },
    ],
    load: () => import("./commands/dev.ts"),
  },
  {
    usage: "chat",
    description: "talk to an agent and see its steps as they happen",
    options: [key, agent],
    load: () => import("./commands/chat.ts"),
  },
  {
    usage: "send <text>",
    description: "send one message (- reads it from stdin)",
    options: [
      key,
      agent,
      { flags: "--wait", description: "wait for the answer and print it" },
      { flags: "--idempotency-key <id>", description: "sending again with the same id gives the same turn" },
    ],
    load: () => import("./commands/send.ts"),
  },
  {
    usage: "sessions",
    description: "list sessions, most recently active first",
    options: [
      key,
      { flags: "--status <status>", description: "created, running, paused, completed, failed, suspended or closed" },
      { flags: "--limit <n>", description: "how many", integer: { min: 1, max: 200 } },
    ],
    load: () => import("./commands/sessions.ts"),
  },
  {
    usage: "show <id>",
    description: "a session rebuilt: turns, steps, versions",
    load: () => import("./commands/show.ts"),
  },
  {
    usage: "events <id>",
    description: "the log of a session",
    options: [
      { flags: "--follow", description: "go on with what happens, until Ctrl-C" },
      {
        flags: "--after <version>",
        description: "begin after this version",
        integer: { min: 0, max: 999_999_999_999 },
      },
    ],
    load: () => import("./commands/events.ts"),
  },
  {
    usage: "approvals",
    description: "list approvals, newest first",
    options: [
      { flags: "--status <status>", description: "pending, approved, rejected, expired or cancelled" },
      { flags: "--limit <n>", description: "how many", integer: { min: 1, max: 200 } },
    ],
    load: () => import("./commands/approvals.ts"),
  },
  {
    usage: "approve <id>",
    description: "approve a call, as the person of the token",
    options: [
      { flags: "--comment <text>", description: "the agent reads it" },
      { flags: "--input <json>", description: "all arguments, changed: what runs then" },
    ],
    load: () => import("./commands/approve.ts"),
  },
  {
    usage: "reject <id>",
    description: "reject a call, as the person of the token",
    options: [{ flags: "--comment <text>", description: "the agent reads it" }],
    load: () => import("./commands/reject.ts"),
  },
  {
    usage: "stop <id>",
    description: "end live work at the next step boundary",
    options: [{ flags: "--reason <text>", description: "kept in the log" }],
    load: () => import("./commands/stop.ts"),
  },
  {
    usage: "resume <id>",
    description: "go on with a suspended or interrupted session",
    load: () => import("./commands/resume.ts"),
  },
  {
    usage: "reset <id>",
    description: "close a session and open a clean one for its key",
    load: () => import("./commands/reset.ts"),
  },
  {
    usage: "retry <id>",
    description: "try the step again that failed",
    load: () => import("./commands/retry.ts"),
  },
  {
    usage: "rollback <id> <version>",
    description: "go on from an earlier version; what came later stays in the log",
    load: () => import("./commands/rollback.ts"),
  },
  {
    usage: "fork <id> <version>",
    description: "a new session whose past is this one up to a version",
    load: () => import("./commands/fork.ts"),
  },
  {
    usage: "compact <id>",
    description: "summarise the conversation before the next model call",
    load: () => import("./commands/compact.ts"),
  },
  {
    usage: "stop-all",
    description: "stop every session of the tenant; nothing starts until the stop is lifted",
    options: [
      { flags: "--reason <text>", description: "kept in the logs" },
      { flags: "--lift", description: "lift the stop" },
    ],
    load: () => import("./commands/stop-all.ts"),
  },
  {
    usage: "usage",
    description: "money and tokens of a day, by model and session",
    options: [{ flags: "--day <day>", description: "YYYY-MM-DD, a UTC day; default today" }],
    load: () => import("./commands/usage.ts"),
  },
  {
    usage: "export [id]",
    description: "a session as JSON lines, with its hash chain",
    options: [
      { flags: "--out <file>", description: "write to a file instead of stdout" },
      { flags: "--verify", description: "say whether the hash chain holds instead of printing the lines" },
      { flags: "--in <file>", description: "with --verify: check this file instead of asking a runtime" },
    ],
    load: () => import("./commands/export.ts"),
  },
  {
    usage: "import <file>",
    description: "bring an exported session into this runtime (- reads stdin); an open turn waits for resume",
    load: () => import("./commands/import.ts"),
  },
  {
    usage: "erase <id>",
    description: "delete a session for good: its log, its approvals, its blobs",
    options: [
      { flags: "--yes", description: "do it; without it only says what would go" },
      { flags: "--facts", description: "also what long-term memory has learnt from it" },
    ],
    load: () => import("./commands/erase.ts"),
  },
  {
    usage: "tasks [action] [name]",
    description: "batch tasks: list (default), add, run, runs, remove",
    options: [
      { flags: "--agent <name>", description: "add: who does it" },
      { flags: "--prompt <text>", description: "add: what is to be done" },
      { flags: "--cron <pattern>", description: 'add: when, five fields, as in "0 6 * * *"' },
      { flags: "--time-zone <zone>", description: "add: IANA zone of the schedule (UTC)" },
      { flags: "--on <source/type>", description: "add: the events that start it" },
      { flags: "--catch-up <how>", description: "add: after a downtime, none or once" },
      { flags: "--webhook <url>", description: "add: where answers are posted to" },
      { flags: "--mail <address>", description: "add: where answers are mailed to" },
      { flags: "--idempotency-key <id>", description: "run: again with the same id is the same run" },
      { flags: "--limit <n>", description: "runs: how many", integer: { min: 1, max: 200 } },
    ],
    load: () => import("./tasks.ts"),
  },
  {
    usage: "facts [action] [id] [text]",
    description: "what is remembered about you: list (default), edit, delete",
    options: [
      { flags: "--user <user>", description: "another user of the tenant, for tokens that may" },
      { flags: "--all", description: "list: also facts that have ended" },
    ],
    load: () => import("./commands/facts.ts"),
  },
  {
    usage: "demo",
    description: "an investigation, killed in the middle, resumed: nothing lost, nothing twice",
    load: () => import("./commands/demo.ts"),
  },
];

export function buildProgram(done: (code: number) => void): Command {
  const program = new Command("baton")
    .description("Durable agent sessions.")
    .exitOverride()
    .showHelpAfterError("(baton --help shows what there is)")
    .addHelpText("after", "\nExit codes: 0 done, 1 failed, 2 wrong use.");
  for (const row of commands) {
    const command = program.command(row.usage).description(row.description).allowExcessArguments(false);
    for (const { flags, description, integer } of row.options ?? []) {
      if (integer) command.option(flags, description, (text: string) => wholeNumber(text, integer));
      else command.option(flags, description);
    }
    command
      .option("--json", "JSON lines on stdout")
      .option("--url <url>", "which runtime (BATON_URL; else the local one)")
      .option("--token <token>", "bearer token (BATON_TOKEN)")
      .action(async (...given: unknown[]) => {
        const options = command.opts<Invocation["options"] & { json?: boolean; url?: string; token?: string }>();
        const connect = createConnect({ ...options, env: process.env });
        const { run } = await row.load();
        done(
          await run({
            args: given.slice(0, command.registeredArguments.length).map((arg) => String(arg ?? "")),
            options,
            output: createOutput({ json: options.json === true }),
            client: createClient(connect),
          }),
        );
      });
  }
  return program;
}

function wholeNumber(text: string, range: { min: number; max: number }): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= range.min && value <= range.max) return value;
  throw new InvalidArgumentError(`Use a whole number from ${range.min} to ${range.max}.`);
}
