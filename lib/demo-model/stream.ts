// A reply as the events of a Messages API stream, and the faults that a stream can end with.

import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { JsonObject } from "../core/json.ts";
import { type Reply, type ReplyBlock, signatureOf } from "./reply.ts";
import { cutText, type FaultLine, pieces } from "./script-line.ts";

export type StreamOptions = {
  usage: JsonObject;
  /** Pause before each piece of text or arguments, in milliseconds. */
  latencyMs: number;
};

export async function streamReply(response: ServerResponse, reply: Reply, options: StreamOptions): Promise<void> {
  start(response, reply, options);
  for (const [index, part] of reply.blocks.entries()) await sendBlock(response, index, part, options.latencyMs);
  send(response, "message_delta", {
    delta: { stop_reason: reply.stop, stop_sequence: null },
    usage: { ...options.usage, output_tokens: reply.outputTokens },
  });
  send(response, "message_stop", {});
  response.end();
}

/** Begins like a sound reply, then does what `line` says. */
export async function streamFault(
  response: ServerResponse,
  reply: Reply,
  line: FaultLine,
  options: StreamOptions,
): Promise<void> {
  start(response, reply, options);
  const texts = cutText(line);
  if (texts.length > 0 && line.fault !== "cut_in_tool_json") {
    send(response, "content_block_start", { index: 0, content_block: { type: "text", text: "" } });
    for (const text of texts) await sendDelta(response, 0, { type: "text_delta", text }, options.latencyMs);
  }
  if (line.fault === "cut_in_tool_json") {
    const block = { type: "tool_use", id: "toolu_cut", name: "cut_tool", input: {} };
    send(response, "content_block_start", { index: 0, content_block: block });
    await sendDelta(response, 0, { type: "input_json_delta", partial_json: '{"amount": 12' }, options.latencyMs);
  }
  if (line.fault === "overloaded_mid_stream") {
    send(response, "error", { error: { type: "overloaded_error", message: line.message ?? "Overloaded" } });
  }
  if (line.fault === "hang") return;
  if (line.fault === "end_early" || line.fault === "overloaded_mid_stream") response.end();
  // What was written must reach the client before the socket goes, else the fault would be another one.
  else response.write(": \n\n", () => response.destroy());
}

function start(response: ServerResponse, reply: Reply, options: StreamOptions): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  send(response, "message_start", {
    message: {
      id: reply.id,
      type: "message",
      role: "assistant",
      model: reply.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...options.usage, output_tokens: 1 },
    },
  });
  send(response, "ping", {});
}

async function sendBlock(response: ServerResponse, index: number, part: ReplyBlock, latencyMs: number): Promise<void> {
  const { block, json } = part;
  const [empty, deltas] = split(block, json);
  send(response, "content_block_start", { index, content_block: empty });
  for (const delta of deltas) await sendDelta(response, index, delta, latencyMs);
  send(response, "content_block_stop", { index });
}

/** The block as it starts, and the deltas that fill it. A kind the demo does not know comes whole. */
function split(block: JsonObject, json: string | undefined): [JsonObject, JsonObject[]] {
  if (json !== undefined) {
    const parts = ["", ...(json.match(/[\s\S]{1,12}/g) ?? [])];
    return [{ ...block, input: {} }, parts.map((partial_json) => ({ type: "input_json_delta", partial_json }))];
  }
  if (block.type === "text") {
    return [{ ...block, text: "" }, pieces(String(block.text)).map((text) => ({ type: "text_delta", text }))];
  }
  if (block.type !== "thinking") return [block, []];
  const thinking = String(block.thinking);
  const parts = pieces(thinking).map((text): JsonObject => ({ type: "thinking_delta", thinking: text }));
  return [
    { ...block, thinking: "", signature: "" },
    [...parts, { type: "signature_delta", signature: signatureOf(thinking) }],
  ];
}

async function sendDelta(response: ServerResponse, index: number, delta: JsonObject, latencyMs: number): Promise<void> {
  if (response.destroyed) return;
  if (latencyMs > 0) await pause(latencyMs);
  send(response, "content_block_delta", { index, delta });
}

function send(response: ServerResponse, type: string, data: JsonObject): void {
  if (!response.destroyed) response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
}
