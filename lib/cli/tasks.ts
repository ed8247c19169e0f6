// baton tasks: batch tasks from the command line. list | add | run | runs | remove.
import { randomUUID } from "node:crypto";
import type { RunView, TaskView } from "../batch/task-view.ts";
import type { Page } from "../sessions/events.ts";
import { WrongUse } from "./cli-errors.ts";
import type { Client } from "./client.ts";
import { type Output, oneLine, printable } from "./output.ts";
import type { Invocation, Run } from "./program.ts";

type Action = (name: string, invocation: Invocation) => Promise<void>;

const actions: Record<string, Action> = {
  list: async (_name, { client, output }) => {
    const page = await client.call<Page<TaskView>>("GET", "/v1/tasks");
    print(output, page, page.items.length === 0 ? ["no tasks"] : page.items.map((task) => taskLine(task, output)));
  },
  add: async (name, { client, output, options }) => {
    const task = await client.call<TaskView>("POST", "/v1/tasks", { body: definition(name, options) });
    print(output, task, [taskLine(task, output)]);
  },
  run: async (name, { client, output, options }) => {
    const headers = { "Idempotency-Key": String(options.idempotencyKey ?? randomUUID()) };
    const run = await client.call<RunView>("POST", `${at(name)}/run`, { headers });
    print(output, run, [runLine(run, output)]);
  },
  runs: async (name, { client, output, options }) => {
    const page = await runsOf(client, name, Number(options.limit ?? 20));
    print(output, page, page.items.length === 0 ? ["no runs yet"] : page.items.map((run) => runLine(run, output)));
  },
  remove: async (name, { client, output }) => {
    const task = await client.call<TaskView>("DELETE", at(name));
    print(output, task, [`removed ${task.name}; runs that have begun go on`]);
  },
};

export const run: Run = async (invocation) => {
  const [action = "list", name = ""] = invocation.args.filter((arg) => arg !== "");
  const act = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (!act) throw new WrongUse(`baton tasks ${action}: use one of ${Object.keys(actions).join(", ")}`);
  if (action !== "list" && name === "") throw new WrongUse(`baton tasks ${action} <name>: which task?`);
  await act(name, invocation);
  return 0;
};

function runsOf(client: Client, name: string, limit: number): Promise<Page<RunView>> {
  return client.call("GET", `${at(name)}/runs?limit=${limit}`);
}

function definition(name: string, options: Invocation["options"]): object {
  const { agent, prompt, cron, timeZone, on, catchUp, webhook, mail } = options;
  if (agent === undefined || prompt === undefined) throw new WrongUse("baton tasks add: give --agent and --prompt");
  if (webhook !== undefined && mail !== undefined) throw new WrongUse("give --webhook or --mail, not both");
  const [source, detailType, more] = on === undefined ? [] : String(on).split("/");
  if (on !== undefined && (!source || !detailType || more !== undefined))
    throw new WrongUse('--on: write <source>/<detail type>, as in "bank.alerts/Alert raised"');
  return {
    name,
    agent,
    prompt,
    ...(cron === undefined ? {} : { schedule: { cron, ...(timeZone === undefined ? {} : { timeZone }) } }),
    ...(on === undefined ? {} : { on: { source, detailType } }),
    ...(catchUp === undefined ? {} : { catchUp }),
    ...(webhook === undefined ? {} : { deliverTo: { webhook } }),
    ...(mail === undefined ? {} : { deliverTo: { mail } }),
  };
}

function print(output: Output, value: unknown, lines: string[]): void {
  if (output.json) output.value(value);
  else for (const line of lines) output.line(line);
}

function taskLine(task: TaskView, { paint }: Output): string {
  const when = [
    task.schedule ? `${task.schedule.cron} ${task.schedule.timeZone}` : "",
    task.on ? `on ${task.on.source}/${task.on.detailType}` : "",
  ].filter((part) => part !== "");
  const next = task.nextAt ? paint.dim(`next ${task.nextAt}`) : "";
  const told = when.length > 0 ? when.join(", ") : "by hand";
  return [task.name, task.agent, oneLine(told, 60), next, oneLine(task.prompt, 50)].filter(Boolean).join("  ");
}

function runLine(run: RunView, { paint }: Output): string {
  const how = run.reason ?? run.endReason ?? "";
  const many = run.count === undefined ? "" : `${run.count} slots`;
  const sent = run.delivery ? `delivery ${run.delivery.status}` : "";
  const parts = [paint.dim(run.at), run.status.padEnd(7), run.sessionId ?? "", printable(how), many, sent, run.slot];
  return parts.filter((part) => part !== "").join("  ");
}

function at(name: string): string {
  return `/v1/tasks/${encodeURIComponent(name)}`;
}
