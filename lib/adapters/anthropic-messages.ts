// Baton's messages to the Messages API and back: the one place that knows both. No network in here.
import type Anthropic from "@anthropic-ai/sdk";
import type { AssistantContent, CallBlock, Message, ResultBlock, StopReason, Usage } from "../core/content.ts";
import { noUsage } from "../core/content.ts";
import { type Json, toJson } from "../core/json.ts";
import { readCallInput } from "../core/repair/call-input.ts";
import type { ModelReply, ModelRequest } from "../ports/model.ts";

type Block = Anthropic.ContentBlockParam;
type Streaming = Anthropic.MessageCreateParamsStreaming;
const ephemeral = { type: "ephemeral" } as const;

/** Most blocks of one request that may carry a cache mark (Messages API, "Prompt caching"). */
const maxCacheMarks = 4;

/**
 * The request's body, always streaming. Messages must have been repaired (lib/core/repair.ts). Of more than
 * four cache marks the first ones of the messages go first: the stable prefix and the newest message pay most.
 */
export function toRequest(request: ModelRequest): Streaming {
  const system = request.system.filter((part) => part.text.trim() !== "");
  const systemMarks = system.filter((part) => part.cache).length;
  const room = Math.max(0, maxCacheMarks - systemMarks);
  const marked = new Set(room === 0 ? [] : [...new Set(request.cacheMessages)].sort((a, b) => a - b).slice(-room));
  let surplus = Math.max(0, systemMarks - maxCacheMarks);
  const messages = request.messages.map((message, at) => toMessage(message, request.model, marked.has(at)));
  return {
    model: request.model,
    max_tokens: request.maxTokens,
    stream: true,
    ...(system.length > 0
      ? {
          system: system.map(({ text, cache }) => ({
            type: "text",
            text,
            ...(cache && surplus-- <= 0 ? { cache_control: ephemeral } : {}),
          })),
        }
      : {}),
    ...toTools(request),
    messages: messages.filter((message) => message.content.length > 0),
  };
}

function toTools({ tools, messages }: ModelRequest): Pick<Streaming, "tools" | "tool_choice"> {
  if (tools.length > 0) {
    return {
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: { ...inputSchema, type: "object" },
      })),
    };
  }
  // The API refuses calls in the history of a request that defines no tools: name them, and forbid their use.
  const names = new Set(
    messages.flatMap((m) =>
      m.role === "assistant" ? m.content.flatMap((b) => (b.type === "call" ? [b.name] : [])) : [],
    ),
  );
  if (names.size === 0) return {};
  return {
    tools: [...names].map((name) => ({ name, description: "No longer available.", input_schema: { type: "object" } })),
    tool_choice: { type: "none" },
  };
}

function toMessage(message: Message, model: string, cache: boolean): { role: Message["role"]; content: Block[] } {
  const content =
    message.role === "user"
      ? message.content.map((block) => (block.type === "result" ? toResult(block) : toPart(block)))
      : message.content.flatMap((block) => toReplyBlock(block, model));
  const last = cache ? content.findLast(takesMark) : undefined;
  return {
    role: message.role,
    content: content.map((block) => (block === last ? ({ ...block, cache_control: ephemeral } as Block) : block)),
  };
}

function takesMark(block: Block): boolean {
  return block.type === "text" || block.type === "image" || block.type === "tool_use" || block.type === "tool_result";
}

function toPart(part: ResultBlock["content"][number]): Anthropic.TextBlockParam | Anthropic.ImageBlockParam {
  if (part.type === "text") return { type: "text", text: part.text };
  return { type: "image", source: { type: "base64", media_type: part.mediaType, data: part.data } };
}

function toResult(block: ResultBlock): Block {
  return {
    type: "tool_result",
    tool_use_id: block.callId,
    content: block.content.map(toPart),
    ...(block.isError ? { is_error: true } : {}),
  };
}

function toReplyBlock(block: AssistantContent, model: string): Block[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "call":
      return [{ type: "tool_use", id: block.id, name: block.name, input: block.input }];
    case "thinking":
      return block.issuer === model ? [{ type: "thinking", thinking: block.thinking, signature: block.signature }] : [];
    case "opaque":
      // The provider's own block, word for word; what it means is between it and the model that issued it.
      return block.issuer === model ? [block.data as unknown as Block] : [];
  }
}

const stopReasons: { [reason: string]: StopReason | undefined } = {
  end_turn: "end_turn",
  tool_use: "tool_use",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  pause_turn: "pause_turn",
  refusal: "refusal",
};

/** Gathers the events of one stream. `reply` is null until the final event (`message_stop`) has come (H43). */
export type ReplyReader = {
  /** Takes an event; answers the visible text that it brought. Events of an unknown kind are passed over. */
  add: (event: { type: string }) => string;
  reply: () => ModelReply | null;
  /** The visible text so far. */
  partial: () => string;
  /** True once the stream has brought anything of the reply's content. */
  begun: () => boolean;
};

/**
 * `model` is the id that was asked for: it is the issuer of thinking and opaque blocks, since an alias may
 * be answered under a dated id and the next request asks for the alias again.
 */
export function fromEvents(model: string): ReplyReader {
  const blocks = new Map<number, Gathered>();
  let answering = model;
  let stop: string | null = null;
  let usage: Usage = noUsage;
  let started = false;
  let complete = false;
  return {
    add(given) {
      const event = given as Anthropic.RawMessageStreamEvent;
      switch (event.type) {
        case "message_start":
          started = true;
          answering = event.message.model || model;
          usage = readUsage(usage, event.message.usage);
          break;
        case "content_block_start":
          blocks.set(event.index, { block: event.content_block, text: "", json: "", signature: "" });
          return startText(event.content_block);
        case "content_block_delta":
          return addDelta(blocks.get(event.index), event.delta);
        case "message_delta":
          stop = event.delta.stop_reason ?? stop;
          usage = readUsage(usage, event.usage);
          break;
        case "message_stop":
          complete = started;
      }
      return "";
    },
    reply() {
      if (!complete) return null;
      const known = stopReasons[stop ?? ""];
      const reason: StopReason = known ?? "other";
      const ordered = [...blocks].sort(([a], [b]) => a - b).map(([, gathered]) => gathered);
      const content = markCut(
        ordered.flatMap((gathered) => readBlock(gathered, model)),
        reason,
      );
      return { model: answering, content, stop: reason, ...(known ? {} : { rawStop: stop ?? "none" }), usage };
    },
    partial: () => [...blocks.values()].map(visibleText).join("").toWellFormed(),
    begun: () => blocks.size > 0,
  };
}

type Gathered = { block: Anthropic.ContentBlock; text: string; json: string; signature: string };

function startText(block: Anthropic.ContentBlock): string {
  return block.type === "text" ? block.text : "";
}

function visibleText(gathered: Gathered): string {
  return gathered.block.type === "text" ? gathered.block.text + gathered.text : "";
}

function addDelta(gathered: Gathered | undefined, delta: Anthropic.RawContentBlockDelta): string {
  if (!gathered) return "";
  switch (delta.type) {
    case "text_delta":
      gathered.text += delta.text;
      return delta.text;
    case "thinking_delta":
      gathered.text += delta.thinking;
      break;
    case "signature_delta":
      gathered.signature += delta.signature;
      break;
    case "input_json_delta":
      gathered.json += delta.partial_json;
  }
  return "";
}

function readBlock(gathered: Gathered, issuer: string): AssistantContent[] {
  const { block } = gathered;
  if (block.type === "text") {
    const text = visibleText(gathered).toWellFormed();
    return text === "" ? [] : [{ type: "text", text }];
  }
  if (block.type === "tool_use") return [readCall(block, gathered.json)];
  if (block.type === "thinking") {
    const thinking = block.thinking + gathered.text;
    const signature = (block.signature ?? "") + gathered.signature;
    // Half a surrogate pair cannot be stored as it is, and changed thinking is refused: better none.
    return thinking.isWellFormed() ? [{ type: "thinking", issuer, thinking, signature }] : [];
  }
  const raw: unknown = gathered.json === "" ? block : { ...block, input: readCallInput(gathered.json).input };
  return storable(raw) ? [{ type: "opaque", issuer, data: raw }] : [];
}

function readCall(block: Anthropic.ToolUseBlock, json: string): CallBlock {
  const given = json === "" ? JSON.stringify(block.input ?? {}) : json;
  const { input, raw, invalid } = readCallInput(given);
  const id = String(block.id ?? "").toWellFormed();
  const name = String(block.name ?? "").toWellFormed();
  return { type: "call", id, name, input, ...(invalid === undefined ? {} : { raw: raw ?? given, invalid }) };
}

function storable(value: unknown): value is Json {
  try {
    toJson(value);
    return true;
  } catch {
    return false;
  }
}

/**
 * A reply that did not end by itself may have cut its last call, also where the JSON parses by chance; of a
 * refused reply no call may run (H40, H41).
 */
function markCut(content: AssistantContent[], stop: StopReason): AssistantContent[] {
  const why = cutBy[stop];
  if (why === undefined) return content;
  return content.map((block, at) =>
    block.type === "call" && (stop === "refusal" || at === content.length - 1)
      ? { ...block, raw: block.raw ?? JSON.stringify(block.input), invalid: why }
      : block,
  );
}

const cutBy: { [stop in StopReason]?: string } = {
  max_tokens: "cut off by the output limit",
  refusal: "the provider refused the rest of this reply",
  other: "cut off: the reply ended for a reason that is not known",
};

/** Counts are cumulative; a later event that names one replaces it. */
function readUsage(before: Usage, usage: Partial<Anthropic.Usage> | Anthropic.MessageDeltaUsage | undefined): Usage {
  return {
    inputTokens: usage?.input_tokens ?? before.inputTokens,
    outputTokens: usage?.output_tokens ?? before.outputTokens,
    cacheReadTokens: usage?.cache_read_input_tokens ?? before.cacheReadTokens,
    cacheWriteTokens: usage?.cache_creation_input_tokens ?? before.cacheWriteTokens,
  };
}
