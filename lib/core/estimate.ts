// The one estimate of tokens, used by trigger, cut, window and summary call alike. No tokenizer of the provider
// is public, so text is counted by script class, a little above what providers count: too high costs an early
// compaction, too low costs the turn.
import type { Message } from "./content.ts";
import type { LoggedEvent } from "./context/logged-event.ts";
import type { Event } from "./event.ts";
import type { JsonObject } from "./json.ts";
import type { SessionState } from "./state.ts";
import { textTokens } from "./text-tokens.ts";

/** What an image costs at most: the Messages API scales larger ones down (Anthropic docs, "Vision"). */
const imageTokens = 1600;
/** Role, separators and ids around a message or block. */
const messageOverhead = 4;
const callOverhead = 12;

type Request = {
  system: readonly { text: string }[];
  tools: readonly { name: string; description: string; inputSchema: JsonObject }[];
  messages: readonly Message[];
};

/** Tokens of a text, a message, or a whole request (system, tools, messages). Whole number, 0 only for "". */
export function estimateTokens(what: string | Message | Request): number {
  if (typeof what === "string") return Math.ceil(textTokens(what));
  if ("role" in what) return messageOverhead + contentTokens(what.content);
  const system = what.system.reduce((sum, block) => sum + messageOverhead + estimateTokens(block.text), 0);
  const tools = what.tools.reduce((sum, tool) => sum + toolTokens(tool), 0);
  return system + tools + what.messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}

/** Stored events, blocks and schemas of tools never change, and each is counted in every call of its turn. */
const counted = new WeakMap<Event | Block | JsonObject, number>();

/** Tokens that an event adds to what the model sees; 0 for events that it never sees. */
export function estimateEvent(event: Event): number {
  const known = counted.get(event);
  if (known !== undefined) return known;
  const tokens = eventTokens(event);
  counted.set(event, tokens);
  return tokens;
}

function eventTokens(event: Event): number {
  switch (event.type) {
    case "turn.started":
    case "turn.steered":
      return event.messages.reduce((sum, message) => sum + messageOverhead + contentTokens(message.content), 0);
    case "model.replied":
      return messageOverhead + contentTokens(event.content);
    case "call.finished":
      return contentTokens([event.result]);
    case "notice":
      return messageOverhead + estimateTokens(event.text);
    case "session.created":
      return event.handoff ? 60 + estimateTokens(JSON.stringify(event.handoff)) : 0;
    case "rolled.back":
      return 60 + estimateTokens(JSON.stringify(event.sideEffects));
    case "handoff.updated":
      return event.record.constraints.reduce((sum, text) => sum + estimateTokens(text), 0);
    case "session.resumed":
    case "turn.failed":
      return 60;
    default:
      return 0;
  }
}

/**
 * Input tokens that may be sent: window - output limit - margin. Never negative.
 * @param marginTokens default 3 % of the window, for what the estimate misses
 */
export function contextBudget(limits: { windowTokens: number; maxTokens: number; marginTokens?: number }): number {
  const margin = limits.marginTokens ?? Math.ceil(limits.windowTokens * 0.03);
  return Math.max(0, limits.windowTokens - limits.maxTokens - margin);
}

/**
 * Size of the context now: the last real usage plus an estimate of what came since. Without a real usage (none
 * yet, or after a compaction) it is the estimate of all `events` plus `fixedTokens` (system and tools), never 0.
 */
export function contextTokens(
  state: Pick<SessionState, "context">,
  events: readonly LoggedEvent[],
  fixedTokens = 0,
): number {
  const { tokens, version } = state.context;
  const since = tokens > 0 ? events.slice(events.findLastIndex((logged) => logged.version === version) + 1) : events;
  const come = tokens > 0 ? since.filter((logged) => logged.version > version) : since;
  const estimate = come.reduce((sum, logged) => sum + estimateEvent(logged.event), 0);
  return tokens > 0 ? tokens + estimate : fixedTokens + estimate;
}

type Block = Message["content"][number];

function contentTokens(content: readonly Block[]): number {
  return content.reduce((sum, block) => sum + blockTokens(block), 0);
}

function blockTokens(block: Block): number {
  const known = counted.get(block);
  if (known !== undefined) return known;
  const tokens = countBlock(block);
  counted.set(block, tokens);
  return tokens;
}

function countBlock(block: Block): number {
  switch (block.type) {
    case "text":
      return 1 + estimateTokens(block.text);
    case "image":
      return imageTokens;
    case "call":
      return callOverhead + estimateTokens(block.name) + estimateTokens(JSON.stringify(block.input));
    case "result":
      return callOverhead + contentTokens(block.content);
    case "thinking":
      return messageOverhead + estimateTokens(block.thinking);
    case "opaque":
      return messageOverhead + estimateTokens(JSON.stringify(block.data));
  }
}

function toolTokens(tool: Request["tools"][number]): number {
  const { name, description, inputSchema } = tool;
  return callOverhead + estimateTokens(name) + estimateTokens(description) + schemaTokens(inputSchema);
}

function schemaTokens(schema: JsonObject): number {
  const known = counted.get(schema);
  if (known !== undefined) return known;
  const tokens = estimateTokens(JSON.stringify(schema));
  counted.set(schema, tokens);
  return tokens;
}
