// First pass of the repair: each block for itself. What cannot be read or sent is mended or left out; what
// is fine stays the same object.
import type { AssistantContent, CallBlock, ImageBlock, Message, ResultBlock, TextBlock } from "../content.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Draft } from "./alternate.ts";
import { isBlank, toolNamePattern } from "./validate-messages.ts";

export type CleanOptions = {
  isToolKnown?: (name: string) => boolean;
  maxResultChars?: number;
};

/** The messages with blocks that can be sent, or with none; unreadable messages are left out. */
export function cleanBlocks(messages: readonly Message[], options: CleanOptions, repairs: string[]): Draft[] {
  return messages.flatMap((message, from): Draft[] => {
    const say = (what: string) => void repairs.push(`message ${from}: ${what}`);
    if (!isRecord(message) || !Array.isArray(message.content)) {
      say("unreadable, left out");
      return [];
    }
    const blocks: unknown[] = message.content;
    if (message.role === "user") {
      return [{ from, role: "user", content: blocks.flatMap((block) => cleanUserBlock(block, options, say)) }];
    }
    if (message.role === "assistant") {
      return [{ from, role: "assistant", content: blocks.flatMap((block) => cleanReplyBlock(block, options, say)) }];
    }
    say("of an unknown role, left out");
    return [];
  });
}

type Say = (what: string) => void;

function cleanUserBlock(block: unknown, options: CleanOptions, say: Say): (TextBlock | ImageBlock | ResultBlock)[] {
  if (isRecord(block) && block.type === "result") return cleanResult(block, options, say);
  return cleanPart(block, say);
}

function cleanPart(block: unknown, say: Say): (TextBlock | ImageBlock)[] {
  if (isRecord(block) && block.type === "text" && typeof block.text === "string") return cleanText(block, say);
  if (isRecord(block) && block.type === "image") {
    if (isImage(block)) return [block];
    say("replaced an unreadable image");
    return [{ type: "text", text: "[an image that cannot be read was left out]" }];
  }
  say("left out a block that does not belong there");
  return [];
}

function cleanText(block: { [key: string]: unknown }, say: Say): TextBlock[] {
  const text = String(block.text);
  if (isBlank(text)) {
    say("left out a blank text");
    return [];
  }
  if (text.isWellFormed()) return [block as TextBlock];
  say("replaced half of a surrogate pair");
  return [{ type: "text", text: text.toWellFormed() }];
}

function cleanResult(block: { [key: string]: unknown }, options: CleanOptions, say: Say): ResultBlock[] {
  if (typeof block.callId !== "string") {
    say("left out a result without a call id");
    return [];
  }
  const given: unknown[] = Array.isArray(block.content) ? block.content : [];
  const isError = block.isError === true;
  let content = given.flatMap((part) => cleanPart(part, say)).map((part) => shorten(part, options, say));
  // The API takes only text, and some of it, in an error result.
  if (isError && content.some((part) => part.type === "image")) {
    say("replaced a picture in an error result");
    content = content.map((part) => (part.type === "image" ? { type: "text", text: "[picture left out]" } : part));
  }
  if (isError && content.length === 0) {
    say("named an empty error result");
    content = [{ type: "text", text: "failed without a message" }];
  }
  const same = content.length === given.length && content.every((part, i) => part === given[i]);
  return [same && block.isError === isError ? (block as ResultBlock) : resultOf(block.callId, content, isError)];
}

function resultOf(callId: string, content: ResultBlock["content"], isError: boolean): ResultBlock {
  return { type: "result", callId, content, isError };
}

function shorten(part: TextBlock | ImageBlock, options: CleanOptions, say: Say): TextBlock | ImageBlock {
  const most = options.maxResultChars;
  if (part.type !== "text" || most === undefined || part.text.length <= most) return part;
  const note = `\n[… ${part.text.length} characters in all; the middle is left out …]\n`;
  const room = Math.max(0, most - note.length);
  const head = part.text.slice(0, Math.ceil(room * 0.7));
  const tail = part.text.slice(part.text.length - (room - head.length));
  say(`shortened a result of ${part.text.length} characters`);
  return { type: "text", text: `${head}${note}${tail}`.toWellFormed() };
}

function cleanReplyBlock(block: unknown, options: CleanOptions, say: Say): AssistantContent[] {
  if (isRecord(block)) {
    if (block.type === "text" && typeof block.text === "string") return cleanText(block, say);
    if (block.type === "call") return [cleanCall(block, options, say)];
    if (isSigned(block)) return [block];
  }
  say("left out a block that cannot be sent back");
  return [];
}

function cleanCall(block: { [key: string]: unknown }, options: CleanOptions, say: Say): CallBlock {
  const id = typeof block.id === "string" ? block.id : "";
  const given = typeof block.name === "string" ? block.name : "";
  const name = toolNamePattern.test(given) ? given : mendName(given, options);
  const input = isRecord(block.input) ? (wellFormed(block.input as JsonObject) as JsonObject) : {};
  if (name !== given) say(`mended the tool name ${JSON.stringify(given.toWellFormed().slice(0, 80))}`);
  if (input !== block.input) say("mended the input of a call");
  return id === block.id && name === block.name && input === block.input
    ? (block as CallBlock)
    : { ...(block as CallBlock), id, name, input };
}

/** A bad name must not turn into the name of a real tool: the history would tell of a call that never was. */
function mendName(name: string, options: CleanOptions): string {
  const mended = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unnamed_tool";
  return options.isToolKnown?.(mended) ? `${mended.slice(0, 56)}_invalid` : mended;
}

function isSigned(block: { [key: string]: unknown }): block is Extract<AssistantContent, { issuer: string }> {
  if (typeof block.issuer !== "string") return false;
  if (block.type === "thinking") {
    const { thinking, signature } = block;
    return isWellFormedText(thinking) && isWellFormedText(signature) && signature !== "";
  }
  return block.type === "opaque" && isRecord(block.data) && wellFormed(block.data as JsonObject) === block.data;
}

function isWellFormedText(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed();
}

function isImage(block: { [key: string]: unknown }): block is ImageBlock {
  const { mediaType, data } = block;
  return typeof data === "string" && data !== "" && /^image\/(png|jpeg|gif|webp)$/.test(String(mediaType));
}

/** The same value when all its text is well-formed, else a copy with U+FFFD for each half of a pair. */
function wellFormed(value: Json): Json {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const parts = value.map(wellFormed);
    return parts.every((part, i) => part === value[i]) ? value : parts;
  }
  const entries = Object.entries(value).map(([key, part]): [string, Json] => [key.toWellFormed(), wellFormed(part)]);
  const same = entries.every(([key, part]) => Object.hasOwn(value, key) && value[key] === part);
  return same ? value : Object.fromEntries(entries);
}

function isRecord(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
