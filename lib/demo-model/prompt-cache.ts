// The provider's prompt cache, simulated: a marked prefix is written once and read afterwards, by exact
// content. Source: Messages API, "Prompt caching".
import type { Json, JsonObject } from "../core/json.ts";
import type { MessagesRequest } from "./check-request.ts";
import { digest } from "./reply.ts";
import { roughTokens } from "./script-line.ts";

/** Prefixes kept; the oldest goes first. */
const maxPrefixes = 2000;
/** Blocks before a mark in which an earlier prefix is still found. */
const lookBack = 20;
/** Tokens that every request costs besides its blocks. */
const overhead = 8;

export type InputUsage = {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
};

/** Counts a request's input, and remembers its marked prefixes for the next ones. */
export function createPromptCache(minTokens: number): (request: MessagesRequest) => InputUsage {
  const prefixes = new Set<string>();
  return (request) => {
    const ends = prefixEnds(request);
    const total = overhead + (ends.at(-1)?.tokens ?? 0);
    const marks = ends.flatMap((end, at) => (end.marked && end.tokens >= minTokens ? [at] : []));
    const last = marks.at(-1);
    const written = last === undefined ? 0 : (ends[last]?.tokens ?? 0);
    let read = 0;
    for (const mark of marks) {
      for (const end of ends.slice(Math.max(0, mark - lookBack), mark + 1)) {
        if (prefixes.has(end.hash)) read = Math.max(read, end.tokens);
      }
    }
    for (const mark of marks) {
      const hash = ends[mark]?.hash ?? "";
      prefixes.delete(hash);
      prefixes.add(hash);
    }
    while (prefixes.size > maxPrefixes) prefixes.delete(prefixes.values().next().value ?? "");
    return {
      input_tokens: total - Math.max(written, read),
      cache_creation_input_tokens: Math.max(0, written - read),
      cache_read_input_tokens: read,
    };
  };
}

/** Input tokens of a request, without any cache. */
export function countInput(request: MessagesRequest): number {
  return overhead + (prefixEnds(request).at(-1)?.tokens ?? 0);
}

type PrefixEnd = { hash: string; tokens: number; marked: boolean };

/** Where each block ends, in the provider's order: tools, system, messages. */
function prefixEnds(request: MessagesRequest): PrefixEnd[] {
  const { tools = [], system = [], messages } = request;
  const blocks: [string, JsonObject][] = [
    ...tools.map((tool): [string, JsonObject] => ["tool", tool]),
    ...textBlocks(system).map((block): [string, JsonObject] => ["system", block]),
    ...messages.flatMap(({ role, content }) => textBlocks(content).map((b): [string, JsonObject] => [role, b])),
  ];
  let hash = request.model;
  let tokens = 0;
  return blocks.map(([place, { cache_control, ...block }]) => {
    hash = digest(`${hash} ${place} ${JSON.stringify(block)}`);
    tokens += roughTokens(visible(block)) + 4;
    return { hash, tokens, marked: cache_control !== undefined && cache_control !== null };
  });
}

function textBlocks(content: string | JsonObject[]): JsonObject[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** What costs tokens: a picture about 1,500, whatever its bytes. */
function visible(block: JsonObject): Json {
  if (block.type === "image") return "x".repeat(6000);
  return block.type === "text" && typeof block.text === "string" ? block.text : block;
}
