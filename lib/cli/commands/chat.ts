// baton chat: a conversation. On a terminal a prompt, text as it comes, and Ctrl-C to stop watching; in a pipe one
// message a line, answered one after the other.
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline/promises";
import { ProblemError } from "../cli-errors.ts";
import { defaultKey } from "../default-key.ts";
import { printable } from "../output.ts";
import type { Invocation, Run } from "../program.ts";
import { comeBack, onInterrupt, stoppedWatching, watchTurn } from "../watch-turn.ts";

type Place = { sessionId: string; version: number };
type Chat = Invocation & { key: string; last: Place | null };

export const run: Run = async (invocation) => {
  const key = String(invocation.options.key ?? defaultKey());
  const { items } = await invocation.client.sessions({ key, limit: "1" });
  const [session] = items;
  const chat: Chat = { ...invocation, key, last: session ? { sessionId: session.id, version: session.version } : null };
  const onTerminal = invocation.output.terminal && process.stdin.isTTY === true;
  if (!onTerminal) return pipe(chat);
  invocation.output.line(
    chat.output.paint.dim(`${key}${session ? `  ${session.id}, ${session.turn} turns` : ""}  (Ctrl-D ends)`),
  );
  if (session?.status === "running" && !(await catchUp(chat, session.id, session.turn, session.version))) return 0;
  return converse(chat);
};

async function pipe(chat: Chat): Promise<number> {
  let code = 0;
  try {
    for await (const line of createInterface({ input: process.stdin })) {
      if (line.trim() === "") continue;
      const status = await say(chat, line);
      if (status === "stopped") return 0;
      if (status === "error") code = 1;
    }
    return code;
  } finally {
    // An open pipe would keep the process.
    process.stdin.destroy();
  }
}

async function converse(chat: Chat): Promise<number> {
  for (;;) {
    const line = await prompt(chat);
    if (line === null) {
      chat.output.line();
      if (chat.last)
        comeBack(chat.output, "The conversation is kept.", { key: chat.key, sessionId: chat.last.sessionId });
      return 0;
    }
    if (line.trim() === "") continue;
    try {
      if ((await say(chat, line)) === "stopped") return 0;
    } catch (error) {
      // What the runtime refuses is no reason to leave.
      if (!(error instanceof ProblemError)) throw error;
      chat.output.error(error.message);
    }
  }
}

/** One line, or null for Ctrl-D and Ctrl-C. A new interface each time, so that Ctrl-C while watching is a signal. */
async function prompt({ output }: Chat): Promise<string | null> {
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: output.paint.bold("> ") });
  try {
    lines.on("SIGINT", () => lines.close());
    lines.prompt();
    for await (const line of lines) return line;
    return null;
  } finally {
    lines.close();
  }
}

/** Sends a message and watches its turn. */
async function say(chat: Chat, text: string): Promise<"completed" | "error" | "stopped"> {
  const { client, output, key, options } = chat;
  const message = { key, text, ...(options.agent === undefined ? {} : { agent: String(options.agent) }) };
  const receipt = await client.send(message, { idempotencyKey: randomUUID() });
  if (receipt.notice && !output.json)
    output.note(output.paint.dim(`new session: the last one ended (${receipt.notice.reason})`));
  // A chat command (/status, /new …) is answered at once and is no turn.
  if (receipt.answer !== undefined) {
    if (output.json) output.value(receipt);
    else output.line(printable(receipt.answer));
    return receipt.status === "error" ? "error" : "completed";
  }
  if (receipt.status === "queued" && !output.json) {
    output.note(output.paint.dim(`queued: ${receipt.position ?? 1} in the queue; a turn is running`));
  }
  const after = chat.last?.sessionId === receipt.sessionId ? chat.last.version : 0;
  return watch(chat, receipt.sessionId, receipt.turn, after, receipt.status === "queued");
}

/** The open turn from its beginning, for somebody who comes back. False when stopped. */
async function catchUp(chat: Chat, sessionId: string, turn: number, version: number): Promise<boolean> {
  const { snapshot } = await chat.client.checkpoint(sessionId, version);
  return (await watch(chat, sessionId, turn, (snapshot.turn?.startedVersion ?? 1) - 1, true)) !== "stopped";
}

async function watch(chat: Chat, sessionId: string, turn: number, after: number, joining = false) {
  const { client, output, key } = chat;
  const { signal, release } = onInterrupt();
  try {
    const end = await watchTurn({ client, output, sessionId, turn, after, joining, signal });
    if (!end) {
      comeBack(output, stoppedWatching, { key, sessionId });
      return "stopped";
    }
    if (end.endReason === "session.closed") output.note("the session was closed; write again to start a new one");
    chat.last = { sessionId, version: end.version };
    return end.status;
  } finally {
    release();
  }
}
