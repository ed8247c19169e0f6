// What the Messages API demands of a conversation, as a list of faults. Written apart from the repair, so
// that each can show the other wrong. Source: Messages API reference and its documented 400 answers.
import type { CallBlock, Message, ResultBlock, UserMessage } from "../content.ts";

export type ValidateOptions = {
  /** The model that will be called: thinking and opaque blocks must be its own. @default not checked */
  model?: string;
  /** The last message is a paused reply (`pause_turn`) that goes on as it stands. @default false */
  paused?: boolean;
};

export const callIdPattern = /^[a-zA-Z0-9_-]{1,64}$/;
export const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/;

/** Nothing but white space and control characters: the API refuses such text blocks. */
export function isBlank(text: string): boolean {
  return /^[\s\p{Cc}]*$/u.test(text);
}

/** Every reason for which the API would refuse `messages`, as `message N: …`; empty when they are valid. */
export function validateMessages(messages: readonly Message[], options: ValidateOptions = {}): string[] {
  const faults: string[] = [];
  if (messages.length === 0) faults.push("there is no message");
  if (messages[0]?.role === "assistant") faults.push("message 0: the first message must be from the user");
  if (messages.at(-1)?.role === "assistant" && !options.paused) {
    faults.push(`message ${messages.length - 1}: the last message must be from the user`);
  }
  const ids = new Set<string>();
  messages.forEach((message, at) => {
    const before = messages[at - 1];
    const say = (fault: string) => faults.push(`message ${at}: ${fault}`);
    if (message.content.length === 0) say("it is empty");
    if (before?.role === message.role) say(`two ${message.role} messages in a row`);
    if (message.role === "user") checkUser(message, before, say);
    else for (const block of message.content) if (block.type === "call") checkCall(block, ids, messages[at + 1], say);
    checkTexts(message, say);
  });
  checkThinking(messages, options, faults);
  checkEnd(messages, faults);
  return faults;
}

type Say = (fault: string) => void;

function checkUser(message: UserMessage, before: Message | undefined, say: Say): void {
  const asked = before?.role === "assistant" ? before.content.flatMap((b) => (b.type === "call" ? [b.id] : [])) : [];
  const answered = message.content.flatMap((block) => (block.type === "result" ? [block.callId] : []));
  for (const id of asked) if (!answered.includes(id)) say(`call ${JSON.stringify(id)} has no result`);
  for (const id of new Set(answered)) {
    if (!asked.includes(id)) say(`result ${JSON.stringify(id)} has no call in the message before`);
  }
  if (new Set(answered).size !== answered.length) say("a call has two results");
  if (message.content.slice(0, answered.length).some((block) => block.type !== "result")) {
    say("results must come first");
  } else if (answered.length === asked.length && answered.join() !== asked.join()) {
    say("results are not in call order");
  }
  for (const block of message.content) {
    if (block.type === "result") checkResult(block, say);
    else if (block.type === "image") {
      if (block.data === "") say("an image is empty");
    } else if (block.type !== "text") say("a block does not belong into a user message");
  }
}

function checkResult(block: ResultBlock, say: Say): void {
  if (block.isError && block.content.length === 0) say("an error result is empty");
  if (block.isError && block.content.some((part) => part.type !== "text")) say("an error result holds more than text");
}

function checkCall(block: CallBlock, ids: Set<string>, next: Message | undefined, say: Say): void {
  const id = JSON.stringify(block.id);
  if (!callIdPattern.test(block.id)) say(`call id ${id} is not valid`);
  if (ids.has(block.id)) say(`call id ${id} is used twice`);
  ids.add(block.id);
  if (!toolNamePattern.test(block.name)) say(`tool name ${JSON.stringify(block.name)} is not valid`);
  if (typeof block.input !== "object" || block.input === null || Array.isArray(block.input)) {
    say(`the input of call ${id} is not an object`);
  }
  // JSON.stringify writes half a pair as \uXXXX; a written backslash comes doubled and is taken out first.
  if (/\\ud[89a-f]/.test(JSON.stringify(block.input).replaceAll("\\\\", ""))) {
    say(`the input of call ${id} holds half of a surrogate pair`);
  }
  if (next?.role !== "user") say(`call ${id} has no result`);
}

function checkTexts(message: Message, say: Say): void {
  for (const block of message.content) {
    const texts = block.type === "result" ? block.content : [block];
    for (const part of texts) {
      if (part.type === "text" && isBlank(part.text)) say("a text block is blank");
      if (part.type === "text" && !part.text.isWellFormed()) say("a text holds half of a surrogate pair");
      if (part.type === "thinking" && !part.thinking.isWellFormed()) say("thinking holds half of a surrogate pair");
    }
  }
}

/** Thinking belongs to the round that is still open: after the last user message that brings no result. */
function checkThinking(messages: readonly Message[], options: ValidateOptions, faults: string[]): void {
  let open = true;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message?.role === "user" && message.content.every((block) => block.type !== "result")) open = false;
    if (message?.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "thinking" && block.type !== "opaque") continue;
      if (!open) faults.push(`message ${at}: ${block.type} outside the open tool loop`);
      if (options.model !== undefined && block.issuer !== options.model) {
        faults.push(`message ${at}: ${block.type} of another model`);
      }
      if (block.type === "thinking" && block.signature === "") faults.push(`message ${at}: thinking without signature`);
    }
  }
}

function checkEnd(messages: readonly Message[], faults: string[]): void {
  const last = messages.at(-1);
  const block = last?.role === "assistant" ? last.content.at(-1) : undefined;
  if (block?.type === "text" && block.text !== block.text.trimEnd()) {
    faults.push(`message ${messages.length - 1}: the last reply ends with white space`);
  }
}
