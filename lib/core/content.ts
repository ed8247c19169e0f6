// Baton's own message types. Adapters convert them to a provider's form in one place each, so that the
// log outlives any one API.
import type { Json, JsonObject } from "./json.ts";

export type TextBlock = { type: "text"; text: string };
/** `data` is base64. */
export type ImageBlock = {
  type: "image";
  mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  data: string;
};
/** A tool call the model asked for. `invalid` says why it must not run; `raw` keeps what was sent, for audit. */
export type CallBlock = {
  type: "call";
  id: string;
  name: string;
  input: JsonObject;
  raw?: string;
  invalid?: string;
};
export type ResultBlock = {
  type: "result";
  callId: string;
  content: (TextBlock | ImageBlock)[];
  isError: boolean;
};
/** Kept byte for byte; only ever sent back to the model that issued it. */
export type ThinkingBlock = { type: "thinking"; issuer: string; thinking: string; signature: string };
/** A provider's block that Baton does not interpret (redacted thinking, server tools); same rule as thinking. */
export type OpaqueBlock = { type: "opaque"; issuer: string; data: Json };

export type UserContent = TextBlock | ImageBlock;
export type AssistantContent = TextBlock | CallBlock | ThinkingBlock | OpaqueBlock;

export type UserMessage = { role: "user"; content: (UserContent | ResultBlock)[] };
export type AssistantMessage = { role: "assistant"; content: AssistantContent[] };
export type Message = UserMessage | AssistantMessage;

/**
 * `other` is any reason this release does not know: incomplete, never success. `raw` of the reply keeps it.
 * Source: Anthropic Messages API, "Handling stop reasons".
 */
export type StopReason = "end_turn" | "tool_use" | "max_tokens" | "stop_sequence" | "pause_turn" | "refusal" | "other";

/** Token counts of one model call. `inputTokens` excludes cache reads and writes, as the Messages API counts. */
export type Usage = {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
};

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** The visible text of content, blocks joined by a blank line. */
export function textOf(content: readonly { type: string; text?: string }[]): string {
  return content
    .flatMap((block) => (block.type === "text" && block.text ? [block.text] : []))
    .join("\n\n")
    .trim();
}
