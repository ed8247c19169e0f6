// Turns of user and assistant, one after the other: empty messages go, neighbours of one role become one.
import type { Message } from "../content.ts";

/** A message under repair; `from` is its index in the original, or -1 when the repair made it. */
export type Draft = Message & { from: number };

export function alternate(draft: readonly Draft[], repairs: string[]): Draft[] {
  const kept: Draft[] = [];
  for (const message of draft) {
    const last = kept.at(-1);
    if (message.content.length === 0) {
      repairs.push(`message ${message.from}: empty, left out`);
    } else if (last?.role === "user" && message.role === "user") {
      repairs.push(`message ${message.from}: joined with the user message before it`);
      kept[kept.length - 1] = { ...last, content: [...last.content, ...message.content] };
    } else if (last?.role === "assistant" && message.role === "assistant") {
      repairs.push(`message ${message.from}: joined with the assistant message before it`);
      kept[kept.length - 1] = { ...last, content: [...last.content, ...message.content] };
    } else kept.push(message);
  }
  return kept;
}
