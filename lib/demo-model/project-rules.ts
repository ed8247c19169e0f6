// The demo model in a project: plans the example's small site, then builds the feature that the runtime names. Like all of
// its rules stateless: what is to be done next is read from the calls that the turn has made.
import type { JsonObject } from "../core/json.ts";
import { blocksOf, type DemoMessage, type DemoTool, type MessagesRequest } from "./check-request.ts";
import { lastUserText, systemText, type ToolRun, toolRuns } from "./conversation.ts";
import { isObject, parseJson } from "./facts.ts";
import { featureFiles, planFiles, siteFeatures } from "./project-site.ts";
import type { ReplyLine, ScriptCall } from "./script-line.ts";
import { disclaimer } from "./write-text.ts";

/** True when the tools are those of a project's turn that these rules can play. */
export function isProject(tools: readonly DemoTool[]): boolean {
  const has = (name: string) => tools.some((tool) => tool.name === name);
  return (has("plan_features") || has("complete_feature")) && has("write_file") && has("run_check");
}

export function replyInProject(request: MessagesRequest): ReplyLine {
  const at = turnStart(request);
  const turn: Turn = { text: textOf(request.messages[at]), runs: toolRuns(request, at) };
  const feature = /Build feature (\S+) now/.exec(turn.text)?.[1];
  if (feature) return build(feature, turn);
  return systemText(request).includes("You are the initializer of a project")
    ? plan(request, turn)
    : talk(request, turn);
}

type Turn = { text: string; runs: ToolRun[] };

function plan(request: MessagesRequest, turn: Turn): ReplyLine {
  const topic = topicOf(lastUserText(request).text);
  const features = siteFeatures(topic);
  const steps: Step[] = [
    { name: "git_log", input: {} },
    { name: "plan_features", input: { goal: `A small site about ${topic}`, features } },
    ...planFiles(topic).map((file) => ({ name: "write_file", input: file })),
    { name: "commit_feature", input: { feature: "plan", message: `plan of a site about ${topic}` } },
  ];
  return next(steps, turn) ?? { text: `Planned ${features.length} features of a site about ${topic}. ${disclaimer}` };
}

function build(feature: string, turn: Turn): ReplyLine {
  const topic = /about "([^"]+)"/.exec(turn.text)?.[1] ?? "everything";
  const check = /check: (\S+) (\{.*\})/.exec(turn.text);
  const checkInput = parseJson(check?.[2] ?? "");
  const files = featureFiles(feature, topic);
  if (files.length === 0) return { text: `I know no rules for feature ${feature}. ${disclaimer}` };
  const steps: Step[] = [
    { name: "read_file", input: { path: "progress.md" } },
    ...files.map((file) => ({ name: "write_file", input: file })),
    { name: "write_file", input: { path: "progress.md", text: ticked(feature, turn.runs) } },
    { name: check?.[1] ?? "run_check", input: isObject(checkInput) ? checkInput : {} },
    { name: "commit_feature", input: { feature, message: `the ${feature} of the site` } },
    { name: "complete_feature", input: { id: feature, callId: provenBy(turn.runs) } },
  ];
  return next(steps, turn) ?? { text: `Feature ${feature} is built, checked and committed. ${disclaimer}` };
}

/** "restore the workspace to page" goes back to that feature's commit; anything else is answered. */
function talk(request: MessagesRequest, turn: Turn): ReplyLine {
  const wanted = /restore (?:the )?workspace to (\S+?)[.!]?$/im.exec(lastUserText(request).text)?.[1];
  if (!wanted) return { text: `The project goes on after this turn. ${disclaimer}` };
  const log = parseJson(turn.runs.find(({ name }) => name === "git_log")?.text ?? "");
  const commits = isObject(log) && Array.isArray(log.commits) ? log.commits.filter(isObject) : [];
  const commit = commits.find(({ feature }) => feature === wanted)?.commit;
  if (turn.runs.length > 0 && typeof commit !== "string") return { text: `No commit is of ${wanted}. ${disclaimer}` };
  const steps: Step[] = [
    { name: "git_log", input: {} },
    { name: "restore_workspace", input: { commit: commit ?? "" } },
  ];
  return next(steps, turn) ?? { text: `The folder stands at ${wanted} again. ${disclaimer}` };
}

type Step = ScriptCall & { input: JsonObject };

/** The first step that no successful call of the turn stands for; null when all are done. A failed one is tried twice. */
function next(steps: readonly Step[], { runs }: Turn): ReplyLine | null {
  let at = 0;
  let failures = 0;
  for (const run of runs) {
    if (run.name !== steps[at]?.name) continue;
    if (run.isError) failures++;
    else {
      at++;
      failures = 0;
    }
  }
  const step = steps[at];
  if (!step) return null;
  if (failures < 2) return { text: `Step ${at + 1} of ${steps.length}: ${step.name}.`, calls: [step] };
  const why = runs.findLast(({ isError }) => isError)?.text.split("\n")[0];
  return { text: `I give up: ${step.name} failed twice (${why}). ${disclaimer}` };
}

/** progress.md with the feature's line ticked off. */
function ticked(feature: string, runs: readonly ToolRun[]): string {
  const read = parseJson(runs.find(({ name }) => name === "read_file")?.text ?? "");
  const text = isObject(read) ? String(read.text) : "";
  return text.replace(`- [ ] ${feature}:`, `- [x] ${feature}:`);
}

/** The call id that the last successful check shows. */
function provenBy(runs: readonly ToolRun[]): string {
  const check = runs.findLast(({ text, isError }) => !isError && /\[runtime: call id: /.test(text));
  return /\[runtime: call id: (\S+)\]/.exec(check?.text ?? "")?.[1] ?? "";
}

/** Index of the message with which the open turn began. */
function turnStart(request: MessagesRequest): number {
  const at = request.messages.findLastIndex((message) => {
    if (message.role !== "user") return false;
    const blocks = blocksOf(message.content);
    if (/\[runtime: (Project: |There is no feature list)/.test(textOf(message))) return true;
    return !blocks.some(({ type }) => type === "tool_result");
  });
  return Math.max(0, at);
}

function topicOf(text: string): string {
  const about =
    /\b(?:about|on|for)\s+([^.!?\n]+)/i.exec(text)?.[1] ?? text.split("\n").find((line) => line.trim() !== "");
  const words = (about ?? "").replace(/["\\]/g, "").replace(/\s+/g, " ").trim().slice(0, 60).trim();
  return words === "" ? "small things" : words.toWellFormed();
}

function textOf(message: DemoMessage | undefined): string {
  return blocksOf(message?.content ?? "")
    .flatMap((block) => (block.type === "text" ? [String(block.text)] : []))
    .join("\n");
}
