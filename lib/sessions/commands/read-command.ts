// Chat commands are known before anything else is done with a message: they need no model and no running agent.
import type { UserContent } from "../../core/content.ts";

/** What each does, and its arguments, as /help shows them. */
export const commandHelp = {
  new: { usage: "/new", does: "start a new session; the conversation so far is closed" },
  stop: { usage: "/stop [reason]", does: "end the work at its next step and suspend the session" },
  resume: { usage: "/resume", does: "go on with a suspended or interrupted session" },
  status: { usage: "/status", does: "what the session is doing" },
  compact: { usage: "/compact", does: "summarise the conversation so far" },
  undo: { usage: "/undo [n]", does: "take the last n turns back (1 if not given)" },
  fork: { usage: "/fork [version]", does: "branch off a session of its own from here, or from a version" },
  retry: { usage: "/retry", does: "try the step again that failed" },
  help: { usage: "/help", does: "this list" },
} as const;

export type CommandName = keyof typeof commandHelp;
export type Command = { name: CommandName /** What stands after the word, trimmed. */; args: string };

/** Null for anything that goes to the model: other text, an unknown /word, a text with a picture. */
export function readCommand(content: readonly UserContent[]): Command | null {
  const [only, ...more] = content;
  if (only?.type !== "text" || more.length > 0) return null;
  const found = /^\/([a-z]+)(?:\s+([\s\S]*))?$/i.exec(only.text.trimEnd());
  const name = found?.[1]?.toLowerCase() ?? "";
  return isCommand(name) ? { name, args: (found?.[2] ?? "").trim() } : null;
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commandHelp, name);
}
