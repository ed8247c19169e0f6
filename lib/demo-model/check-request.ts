// The demo server is as strict as the real one: a request that the Messages API would answer with 400 is
// answered with 400 here, so that nothing passes in tests that fails in production.
// Source: Messages API reference (version 2026-10-21) and its documented error messages.
import * as z from "zod";
import type { Json, JsonObject } from "../core/json.ts";
import { signatureOf } from "./reply.ts";

const json: z.ZodType<JsonObject> = z.record(z.string(), z.unknown()) as never;
const content = z.union([z.string(), z.array(json)]);
const request = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  messages: z
    .array(z.strictObject({ role: z.enum(["user", "assistant"]), content }))
    .min(1)
    .max(100_000),
  system: content.optional(),
  tools: z
    .array(
      z.looseObject({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
        input_schema: z.looseObject({ type: z.literal("object") }),
      }),
    )
    .optional(),
  tool_choice: json.optional(),
  stream: z.boolean().optional(),
  stop_sequences: z.array(z.string()).optional(),
  metadata: json.optional(),
  thinking: json.optional(),
  service_tier: z.string().optional(),
});

export type DemoTool = JsonObject & { name: string; input_schema: JsonObject };
export type DemoMessage = { role: "user" | "assistant"; content: string | JsonObject[] };
export type MessagesRequest = {
  model: string;
  max_tokens: number;
  messages: DemoMessage[];
  system?: string | JsonObject[];
  tools?: DemoTool[];
  tool_choice?: JsonObject;
  stream?: boolean;
};

/** The request, or the message of the 400. `counting`: a body of count_tokens, which has no max_tokens. */
export function checkRequest(body: Json, counting: boolean): MessagesRequest | string {
  const given = counting && isObject(body) ? { ...body, max_tokens: 1 } : body;
  const parsed = request.safeParse(given);
  if (!parsed.success) return zodFault(parsed.error);
  const checked = parsed.data as MessagesRequest;
  const fault =
    surrogateFault(given) ??
    markFault(checked) ??
    toolFault(checked) ??
    messagesFault(checked.messages) ??
    endFault(checked);
  return fault ?? checked;
}

function zodFault(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue?.code === "unrecognized_keys")
    return `${[...issue.path, issue.keys[0]].join(".")}: Extra inputs are not permitted`;
  return `${issue?.path.join(".") || "body"}: ${issue?.message ?? "invalid"}`;
}

function surrogateFault(body: Json): string | undefined {
  const text = JSON.stringify(body).replaceAll("\\\\", "");
  return /\\ud[89a-f]/.test(text) ? "The request body is not valid JSON: no low surrogate in string" : undefined;
}

function markFault({ tools = [], system, messages }: MessagesRequest): string | undefined {
  const blocks = [...tools, ...blocksOf(system ?? []), ...messages.flatMap((message) => blocksOf(message.content))];
  const marks = blocks.filter((block) => block.cache_control !== undefined).length;
  if (marks > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`;
  const wrong = blocks.find((block) => block.cache_control !== undefined && /thinking$/.test(String(block.type)));
  return wrong ? `${wrong.type}.cache_control: Extra inputs are not permitted` : undefined;
}

function toolFault({ tools = [], messages }: MessagesRequest): string | undefined {
  const names = tools.map((tool) => tool.name);
  if (new Set(names).size !== names.length) return "tools: Tool names must be unique.";
  const uses = messages.some((m) => blocksOf(m.content).some((b) => b.type === "tool_use" || b.type === "tool_result"));
  return uses && tools.length === 0
    ? "Requests which include `tool_use` or `tool_result` blocks must define tools"
    : undefined;
}

function messagesFault(messages: DemoMessage[]): string | undefined {
  if (messages[0]?.role !== "user") return "messages: first message must use the `user` role";
  const seen = new Set<string>();
  for (const [at, message] of messages.entries()) {
    const blocks = blocksOf(message.content);
    if (blocks.length === 0) return `messages.${at}: all messages must have non-empty content`;
    for (const [index, block] of blocks.entries()) {
      const fault = blockFault(block, message.role, seen);
      if (fault) return `messages.${at}.content.${index}: ${fault}`;
    }
    const fault = pairFault(messages, at);
    if (fault) return `messages.${at}: ${fault}`;
  }
  return undefined;
}

function blockFault(block: JsonObject, role: DemoMessage["role"], seen: Set<string>): string | undefined {
  if (block.type === "text") {
    return typeof block.text === "string" && /[^\s\p{Cc}]/u.test(block.text)
      ? undefined
      : "text content blocks must contain non-whitespace text";
  }
  if (block.type === "tool_use") {
    if (role !== "assistant") return "`tool_use` blocks can only be in `assistant` messages";
    if (!/^[a-zA-Z0-9_-]+$/.test(String(block.id)))
      return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'";
    if (!/^[a-zA-Z0-9_-]{1,200}$/.test(String(block.name)))
      return "tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'";
    if (!isObject(block.input ?? null)) return "tool_use.input: Input should be a valid dictionary";
    if (seen.has(String(block.id))) return "`tool_use` ids must be unique";
    seen.add(String(block.id));
    return undefined;
  }
  if (block.type === "tool_result") {
    if (role !== "user") return "`tool_result` blocks can only be in `user` messages";
    const parts = blocksOf((block.content as DemoMessage["content"]) ?? []);
    if (block.is_error === true && parts.length === 0)
      return "tool_result: content cannot be empty if `is_error` is true";
    if (block.is_error === true && parts.some((part) => part.type !== "text")) {
      return "tool_result: all content must be type `text` if `is_error` is true";
    }
    for (const part of parts) if (part.type === "text") return blockFault(part, role, seen);
    return undefined;
  }
  if (block.type === "thinking") {
    return block.signature === signatureOf(String(block.thinking))
      ? undefined
      : "Invalid `signature` in `thinking` block";
  }
  return block.type === "image" && role !== "user" ? "`image` blocks can only be in `user` messages" : undefined;
}

function pairFault(messages: DemoMessage[], at: number): string | undefined {
  const asked = at > 0 ? idsOf(messages[at - 1], "tool_use", "id") : [];
  const answered = idsOf(messages[at], "tool_result", "tool_use_id");
  const stray = answered.find((id) => !asked.includes(id));
  if (stray !== undefined) {
    return `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  }
  if (new Set(answered).size !== answered.length) return "each tool_use must have a single result";
  const next = idsOf(messages[at + 1], "tool_result", "tool_use_id");
  const open = idsOf(messages[at], "tool_use", "id").filter((id) => !next.includes(id));
  if (open.length > 0) {
    return `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
  }
  const blocks = blocksOf(messages[at]?.content ?? []);
  return blocks.slice(0, answered.length).every((block) => block.type === "tool_result")
    ? undefined
    : "`tool_result` blocks must come before other content";
}

function endFault({ messages, system }: MessagesRequest): string | undefined {
  const last = messages.at(-1);
  const block = last?.role === "assistant" ? blocksOf(last.content).at(-1) : undefined;
  if (block?.type === "text" && /\s$/.test(String(block.text))) {
    return "messages: final assistant content cannot end with trailing whitespace";
  }
  const blank = typeof system === "object" && system.some((part) => !/[^\s\p{Cc}]/u.test(String(part.text ?? "")));
  return blank ? "system: text content blocks must contain non-whitespace text" : undefined;
}

function idsOf(message: DemoMessage | undefined, type: string, key: string): string[] {
  return blocksOf(message?.content ?? []).flatMap((block) => (block.type === type ? [String(block[key])] : []));
}

/** Blocks of a content that may be a plain string. */
export function blocksOf(content: string | JsonObject[]): JsonObject[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
