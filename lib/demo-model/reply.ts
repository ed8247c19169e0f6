// A reply of the demo server in the form of the Messages API, made from a script line. Deterministic: ids
// come from a hash of the request.
import { createHash } from "node:crypto";
import type { Json, JsonObject } from "../core/json.ts";
import { type ReplyLine, roughTokens } from "./script-line.ts";

/** `json`: the arguments of a call as they are streamed, sound or not. */
export type ReplyBlock = { block: JsonObject; json?: string };

export type Reply = { id: string; model: string; blocks: ReplyBlock[]; stop: string; outputTokens: number };

/** `seed` names the request: the same seed and line make the same reply. */
export function replyOf(line: ReplyLine, model: string, seed: string): Reply {
  const blocks: ReplyBlock[] = [];
  if (line.thinking !== undefined) {
    blocks.push({ block: { type: "thinking", thinking: line.thinking, signature: signatureOf(line.thinking) } });
  }
  for (const block of line.blocks ?? []) blocks.push({ block });
  if (line.text !== undefined) blocks.push({ block: { type: "text", text: line.text } });
  (line.calls ?? []).forEach((call, index) => {
    const id = call.id ?? `toolu_${digest(`${seed} ${index}`).slice(0, 24)}`;
    const input = call.input ?? {};
    const json = call.raw ?? (Object.keys(input).length === 0 ? "" : JSON.stringify(input));
    blocks.push({ block: { type: "tool_use", id, name: call.name, input, caller: { type: "direct" } }, json });
  });
  const stop = line.stop ?? (line.calls?.length ? "tool_use" : "end_turn");
  const outputTokens = blocks.reduce((sum, { block, json }) => sum + roughTokens(json ?? block), 3);
  return { id: `msg_${digest(seed).slice(0, 24)}`, model, blocks, stop, outputTokens };
}

/** The demo's signature of a thinking block: it recognises its own and refuses any other. */
export function signatureOf(thinking: string): string {
  return `demo-${digest(`thinking ${thinking}`).slice(0, 32)}`;
}

export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The answer of a request that did not ask for a stream. */
export function replyJson(reply: Reply, usage: JsonObject): Json {
  return {
    id: reply.id,
    type: "message",
    role: "assistant",
    model: reply.model,
    content: reply.blocks.map(({ block, json }) => (json === undefined ? block : { ...block, input: parsed(json) })),
    stop_reason: reply.stop,
    stop_sequence: null,
    usage: { ...usage, output_tokens: reply.outputTokens },
  };
}

function parsed(json: string): Json {
  try {
    return json === "" ? {} : JSON.parse(json);
  } catch {
    return {};
  }
}
