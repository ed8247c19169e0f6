// Texts for requests without tools: summaries, narratives, plain chat. Made only from what the prompt says.
import type { MessagesRequest } from "./check-request.ts";
import { lastUserText, systemText } from "./conversation.ts";

export const disclaimer = "(demo model, rule-based, not an LLM)";

export const introduction =
  'I am the demo model: a rule-based stand-in, not an LLM. I can play one part, an investigation: ask me to "investigate customer C-1042".';

/** A deterministic text for a prompt, always shorter than a long prompt. */
export function writeText(request: MessagesRequest): string {
  const prompt = lastUserText(request).text;
  const told = `${systemText(request)}\n${prompt}`;
  if (/\bJSON\b/.test(told) && /\b(only|respond|reply|answer|return|output)\b/i.test(told)) {
    return /\b(array|list)\b/i.test(told) ? "[]" : "{}";
  }
  if (/summar|condense|compact|摘要|总结/i.test(told)) return summary(prompt);
  if (prompt.length < 120 && factLines(prompt).length === 0)
    return `${introduction} You wrote: "${short(prompt, 100)}"`;
  return narrative(prompt);
}

function summary(prompt: string): string {
  const lines = prompt.split("\n").filter((line) => line.trim() !== "");
  const room = Math.max(80, Math.min(1500, Math.floor(prompt.length / 3)));
  const parts = [
    `Goal: ${short(lines[0] ?? "", room / 4)}`,
    `State: ${lines.length} lines of conversation so far.`,
    `Latest: ${short(lines.at(-1) ?? "", room / 4)}`,
    "Next: go on from the latest message.",
    ...factLines(prompt).map((line) => `- ${line}`),
  ];
  const kept: string[] = [];
  for (const part of parts) if (kept.join("\n").length + part.length <= room || kept.length === 0) kept.push(part);
  return [...kept, disclaimer].join("\n");
}

function narrative(prompt: string): string {
  const subject = /(?<![A-Za-z0-9-])[A-Z]{1,5}-\d{2,8}/.exec(prompt)?.[0];
  const first = prompt.split("\n").find((line) => line.trim() !== "") ?? "";
  const facts = factLines(prompt);
  return [
    `${subject ? `Regarding ${subject}. ` : ""}The task was: ${short(first, 200)}`,
    facts.length > 0 ? `The material at hand shows ${facts.join("; ")}.` : "The material names no figures.",
    "This text restates that material and adds no judgement of its own.",
    disclaimer,
  ].join("\n\n");
}

/** `name: value` pairs in the order in which they stand, each name once, at most ten. */
function factLines(text: string): string[] {
  const seen = new Map<string, string>();
  for (const [, name = "", value = ""] of text.matchAll(
    /"?\b([A-Za-z][\w]{1,40})"?\s*[:=]\s*"?([^\s",{}[\]][^",\n{}[\]]{0,100})/g,
  )) {
    if (!seen.has(name) && !/^https?$/i.test(name)) seen.set(name, value.trim());
  }
  return [...seen].slice(0, 10).map(([name, value]) => `${name} ${value}`);
}

function short(text: string, most: number): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length <= most ? line : `${line.slice(0, Math.max(20, Math.floor(most))).toWellFormed()}…`;
}
