// The demo model's rules: call the offered tools in their order, each with arguments from what is known so
// far, say plainly when one fails, and end with the real values. It judges nothing and says what it is.
import type { JsonObject } from "../core/json.ts";
import { fillArguments, type Known } from "./arguments.ts";
import type { DemoTool, MessagesRequest } from "./check-request.ts";
import { findTask, isAlreadyExecuted, lastUserText, type Task, type ToolRun, toolRuns } from "./conversation.ts";
import { factsNamedIn, findFact, gatherFacts, isObject, parseJson, sayFact } from "./facts.ts";
import { findFacts } from "./find-facts.ts";
import { isProject, replyInProject } from "./project-rules.ts";
import type { ReplyLine } from "./script-line.ts";
import { disclaimer, introduction, writeText } from "./write-text.ts";

/** Built-in tools of Baton: never part of the work itself. */
const builtIns = ["update_progress", "recall"];

/** The reply to a request; the same request always gets the same one. */
export function replyByRules(request: MessagesRequest): ReplyLine {
  const tools = request.tool_choice?.type === "none" ? [] : (request.tools ?? []);
  if (tools.length === 0) return { text: findFacts(request) ?? writeText(request) };
  if (isProject(tools)) return replyInProject(request);
  const task = findTask(request);
  return task ? workOn(task, request, tools) : (useBuiltIn(request, tools) ?? { text: chat(request) });
}

function workOn(task: Task, request: MessagesRequest, tools: readonly DemoTool[]): ReplyLine {
  const runs = toolRuns(request, task.at);
  const facts = gatherFacts(runs.filter((run) => !run.isError).map((run) => run.text));
  const known: Known = { facts, subject: task.subject, said: task.said };
  const work = tools.filter((tool) => !builtIns.includes(tool.name));
  const skipped: string[] = [];
  for (const [index, tool] of work.entries()) {
    const mine = runs.filter((run) => run.name === tool.name);
    const last = mine.at(-1);
    if (last && !last.isError) continue;
    if (last && !mayRepeat(tool, last, mine.length)) return { text: report(task, runs, skipped, tool.name) };
    if (!last && isAlreadyExecuted(request, tool.name, task.subject)) {
      skipped.push(`${tool.name} had already been done before`);
      continue;
    }
    const reason = last || !isFiling(tool.name) ? null : whyNotFile(task, known);
    if (reason) {
      skipped.push(`${tool.name} was left out: ${reason}`);
      continue;
    }
    const { input, missing } = fillArguments(tool.input_schema, known);
    if (missing.length > 0) {
      skipped.push(`${tool.name} could not be called: nothing is known for ${missing.join(", ")}`);
      continue;
    }
    const lead = last
      ? `${tool.name} failed (${firstLine(last.text)}). I try it once more.`
      : `Step ${index + 1} of ${work.length}: ${tool.name} for ${task.subject}.`;
    return { text: lead, calls: [{ name: tool.name, input }] };
  }
  return { text: report(task, runs, skipped) };
}

/** A passing failure of a tool that only reads is tried once more; filing never is: a person has to look. */
function mayRepeat(tool: DemoTool, last: ToolRun, attempts: number): boolean {
  const passing = /outcome unknown|interrupted|time[d -]*out|temporar|unavailable|try again/i.test(last.text);
  return passing && attempts < 2 && !isFiling(tool.name);
}

function isFiling(name: string): boolean {
  return /submit|file|send|refund|delete|pay|transfer/i.test(name);
}

/** The user's word first, then what the tools recommend. */
function whyNotFile(task: Task, known: Known): string | null {
  const forbidden = /\b(do not|don['’]?t|without|never|no) (\w+ )?(submit|fil(e|ing)|send|report)/i;
  if (forbidden.test(task.said)) return "you asked for that";
  const advice = findFact(known.facts, "recommendation", "string");
  return typeof advice !== "string" || /file|submit|report/i.test(advice) ? null : `the recommendation is ${advice}`;
}

function report(task: Task, runs: readonly ToolRun[], skipped: readonly string[], failed?: string): string {
  const failure = failed ? runs.findLast((run) => run.name === failed) : undefined;
  const opening = failure
    ? `I stopped the work on ${task.subject}: ${failure.name} failed (${firstLine(failure.text)}). Nothing after it was done; please decide how to go on.`
    : `The work on ${task.subject} is finished.`;
  const latest = [...new Map(runs.filter((run) => !run.isError).map((run) => [run.name, run])).values()];
  const lines = latest.filter((run) => !builtIns.includes(run.name)).map((run) => `- ${run.name}: ${values(run.text)}`);
  return [opening, ...lines, ...skipped.map((line) => `- ${line}`), disclaimer].join("\n");
}

/** The telling values of a result: its own scalars, then how many of each list. */
function values(text: string): string {
  const data = parseJson(text);
  if (Array.isArray(data)) return `${data.length} entries`;
  if (!isObject(data)) return firstLine(text);
  const entries = Object.entries(data).filter(([key, value]) => value !== null && !/^customer_?id$/i.test(key));
  const scalars = entries.filter(([, value]) => typeof value !== "object").slice(0, 6);
  const lists = entries.filter(([, value]) => Array.isArray(value)).slice(0, 3);
  return [...scalars, ...lists].map(([key, value]) => sayFact(key, value)).join(", ") || "no values";
}

function useBuiltIn(request: MessagesRequest, tools: readonly DemoTool[]): ReplyLine | null {
  const { text, at } = lastUserText(request);
  const wanted = /\b(recall|earlier in this|search (the )?history)\b/i.test(text)
    ? "recall"
    : /\b(remember|note that|keep in mind)\b|记住/i.test(text)
      ? "update_progress"
      : "";
  const tool = tools.find((one) => one.name === wanted);
  if (!tool) return null;
  const run = toolRuns(request, at).findLast((one) => one.name === wanted);
  if (!run) return { text: `I use ${wanted}.`, calls: [{ name: wanted, input: fromText(tool.input_schema, text) }] };
  if (run.isError) return { text: `${wanted} failed: ${firstLine(run.text)} ${disclaimer}` };
  return { text: `${wanted === "recall" ? `Found: ${firstLine(run.text)}` : "Noted."} ${disclaimer}` };
}

/** Every required property, and a place for standing rules, from the user's own words. */
function fromText(schema: JsonObject, text: string): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const names = Object.keys(properties).filter((name) => required.includes(name) || name === "constraints");
  return Object.fromEntries(
    names.map((name) => {
      const part = properties[name];
      const type = isObject(part) ? part.type : "";
      if (isObject(part) && Array.isArray(part.enum)) return [name, part.enum[0] ?? null];
      if (type === "array") {
        const items = isObject(part) && isObject(part.items) ? part.items : {};
        return [name, [items.type === "object" ? fromText(items, text) : text]];
      }
      if (type === "object" && isObject(part)) return [name, fromText(part, text)];
      return [name, type === "integer" || type === "number" ? 0 : type === "boolean" ? false : text];
    }),
  );
}

function chat(request: MessagesRequest): string {
  const { text } = lastUserText(request);
  const runs = toolRuns(request, 0).filter((run) => !run.isError);
  const named = factsNamedIn(gatherFacts(runs.map((run) => run.text)), text);
  if (named.length > 0) {
    return `From the results so far: ${named.map((fact) => sayFact(fact.key, fact.value)).join(", ")}. ${disclaimer}`;
  }
  return introduction;
}

function firstLine(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > 200 ? `${line.slice(0, 200).toWellFormed()}…` : line;
}
