// What a request tells: which task is open, what the tools have answered since it was asked. Stateless: read
// anew from every request.
import { blocksOf, type DemoMessage, type MessagesRequest } from "./check-request.ts";

export type ToolRun = { name: string; text: string; isError: boolean; at: number };

export type Task = {
  /** The id asked about, in capitals. */
  subject: string;
  /** Index of the message that asked. */
  at: number;
  /** All that the user has written from there on. */
  said: string;
};

const id = /(?<![A-Za-z0-9-])(?!(?:CASE|AML|TX|TXN|RPT|REP|SAR)-)[A-Z]{1,5}-\d{2,8}(?![\d-])/i;
const verb =
  /\b(investigat|check|review|screen|examin|analy[sz]|assess|look(ing)? (in)?to|look at|file|filing|report|audit|process|handle|run)|调查|检查|审查|核查|处理/i;
const nudge =
  /^\W*(please )?(continue|go on|go ahead|resume|retry|try again|proceed|carry on|yes|ok|okay)\b|继续|session resumed/i;
const halt = /\b(stop|cancel|abort|never ?mind|forget it)\b/i;

/**
 * The task that is open, or null: the last user text asks for one, or sends an earlier one on. Where nobody
 * has written anything (a resume, carried state only), the quoted records are asked what the task was.
 */
export function findTask(request: MessagesRequest): Task | null {
  const written = userTexts(request, (text) => withoutRecords(text));
  const texts = written.length > 0 ? written : userTexts(request, (text) => text);
  const last = texts.at(-1);
  if (!last) return null;
  const said = (from: number) =>
    texts
      .filter((one) => one.at >= from)
      .map((one) => one.text)
      .join("\n");
  const known = id.test(texts.map((one) => one.text).join("\n")) ? texts : userTexts(request, (text) => text);
  const asks = known.filter(({ text }) => id.test(text) && (verb.test(text) || text.length < 40));
  const ask = asks.at(-1);
  if (!ask || (halt.test(last.text) && last.at !== ask.at)) return null;
  const goesOn = last.at === ask.at || last.during || nudge.test(last.text) || verb.test(last.text);
  return goesOn ? { subject: (id.exec(ask.text)?.[0] ?? "").toUpperCase(), at: ask.at, said: said(ask.at) } : null;
}

/** Tool results from message `from` on, oldest first. */
export function toolRuns(request: MessagesRequest, from: number): ToolRun[] {
  const names = new Map<string, string>();
  return request.messages.flatMap((message, at) => {
    const blocks = blocksOf(message.content);
    for (const block of blocks) if (block.type === "tool_use") names.set(String(block.id), String(block.name));
    if (at < from) return [];
    return blocks.flatMap((block): ToolRun[] => {
      if (block.type !== "tool_result") return [];
      const parts = blocksOf((block.content as DemoMessage["content"]) ?? []);
      const text = parts.map((part) => String(part.text ?? "")).join("\n");
      return [{ name: names.get(String(block.tool_use_id)) ?? "", text, isError: block.is_error === true, at }];
    });
  });
}

/** The last thing the user wrote, and where. */
export function lastUserText(request: MessagesRequest): { text: string; at: number } {
  return userTexts(request, withoutRecords).at(-1) ?? userTexts(request, (text) => text).at(-1) ?? { text: "", at: 0 };
}

function userTexts(request: MessagesRequest, read: (text: string) => string) {
  return request.messages.flatMap((message, at) => {
    const text = message.role === "user" ? read(textOf(message)).trim() : "";
    return text === "" ? [] : [{ at, text, during: hasResults(message) }];
  });
}

/** The user's own words: without Baton's quoted records and notes of the runtime. */
function withoutRecords(text: string): string {
  return text.replace(/\[data begins:[\s\S]*?\[data ends\]/g, "").replace(/^\[runtime:.*\]$/gm, "");
}

export function systemText(request: MessagesRequest): string {
  return blocksOf(request.system ?? [])
    .map((block) => String(block.text ?? ""))
    .join("\n");
}

/** Whether the carried state lists `tool` for this subject as already executed: what happened before this context. */
export function isAlreadyExecuted(request: MessagesRequest, tool: string, subject: string): boolean {
  const users = request.messages.filter((message) => message.role === "user").map(textOf);
  const number = subject.replace(/^\D*/, "");
  let listing = false;
  for (const line of [systemText(request), ...users].join("\n").split("\n")) {
    if (/already (executed|happened)|已执行/i.test(line)) listing = true;
    else if (/^\|?\s*$|:\s*$|^\[/.test(line)) listing = false;
    if (listing && line.includes(tool) && line.includes(number)) return true;
  }
  return false;
}

function textOf(message: DemoMessage): string {
  return blocksOf(message.content)
    .flatMap((block) => (block.type === "text" ? [String(block.text)] : []))
    .join("\n")
    .trim();
}

function hasResults(message: DemoMessage): boolean {
  return blocksOf(message.content).some((block) => block.type === "tool_result");
}
