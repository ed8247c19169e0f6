// A model in the process for tests of agents: one script line per call, faults included, nothing on the wire.
// The lines are those of the demo server, and what is thrown is what the real adapter would throw.
import type { AssistantContent, CallBlock, StopReason, Usage } from "../core/content.ts";
import {
  InvalidInput,
  ModelAuthFailed,
  ModelOverloaded,
  ModelRateLimited,
  ModelRejected,
  ModelStreamCut,
  ModelUnavailable,
} from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { readCallInput } from "../core/repair/call-input.ts";
import {
  cutText,
  type FaultLine,
  isFault,
  pieces,
  type ReplyLine,
  roughTokens,
  type ScriptLine,
} from "../demo-model/script-line.ts";
import type { Model, ModelOptions, ModelReply, ModelRequest } from "../ports/model.ts";

export type ScriptedModel = Model & {
  /** Every request, in order, as it came. */
  requests: ModelRequest[];
  /** Adds lines at the end. */
  push: (...lines: ScriptLine[]) => void;
  /** Lines not yet used. */
  left: () => number;
};

/** Call n of `reply` plays line n. Usage is estimated. Throws `InvalidInput` when the lines have run out. */
export function scriptedModel(lines: readonly ScriptLine[]): ScriptedModel {
  const script = [...lines];
  const requests: ModelRequest[] = [];
  return {
    requests,
    push: (...more) => void script.push(...more),
    left: () => script.length - requests.length,
    async reply(request, options = {}) {
      options.signal?.throwIfAborted();
      const at = requests.push(request) - 1;
      const line = script[at];
      if (!line) {
        throw new InvalidInput(
          `scriptedModel has ${script.length} lines, and this is call ${at + 1}: add a line for it`,
        );
      }
      if (isFault(line)) return fail(line, options);
      for (const piece of pieces(line.text ?? "")) options.onText?.(piece);
      return replyOf(line, request, at);
    },
    countTokens: async (request) => inputTokens(request),
  };
}

function replyOf(line: ReplyLine, request: ModelRequest, at: number): ModelReply {
  const issuer = request.model;
  const content: AssistantContent[] = [];
  if (line.thinking !== undefined)
    content.push({ type: "thinking", issuer, thinking: line.thinking, signature: "scripted" });
  for (const data of line.blocks ?? []) content.push({ type: "opaque", issuer, data });
  if (line.text) content.push({ type: "text", text: line.text });
  const given = line.stop ?? (line.calls?.length ? "tool_use" : "end_turn");
  const stop = stops.find((known) => known === given) ?? "other";
  const calls = line.calls ?? [];
  calls.forEach((call, index) => {
    const { input, raw, invalid } = readCallInput(call.raw ?? JSON.stringify(call.input ?? {}));
    const why =
      invalid ?? (stop === "max_tokens" && index === calls.length - 1 ? "cut off by the output limit" : undefined);
    const block: CallBlock = { type: "call", id: call.id ?? `call_${at + 1}_${index}`, name: call.name, input };
    content.push(why === undefined ? block : { ...block, raw: raw ?? JSON.stringify(input), invalid: why });
  });
  const usage: Usage = {
    inputTokens: inputTokens(request),
    outputTokens: roughTokens(content as unknown as Json) + 3,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
  return {
    model: issuer,
    content,
    stop,
    ...(stop === "other" ? { rawStop: given } : {}),
    usage,
    requestId: `scripted_${at + 1}`,
  };
}

const stops: StopReason[] = ["end_turn", "tool_use", "max_tokens", "stop_sequence", "pause_turn", "refusal"];

async function fail(line: FaultLine, options: ModelOptions): Promise<never> {
  if (typeof line.fault === "number") throw Object.assign(statusError(line.fault, line), { uncharged: true });
  const texts =
    line.fault === "cut_in_tool_json" ? [] : line.fault === "hang" && !line.afterTokens ? [] : cutText(line);
  for (const text of texts) options.onText?.(text);
  if (line.fault === "hang") {
    if (!options.signal) throw new ModelUnavailable("the scripted model hangs, and nobody gave it a signal to end by");
    await new Promise((_, reject) => {
      options.signal?.addEventListener("abort", () => reject(options.signal?.reason), { once: true });
    });
  }
  if (line.fault === "overloaded_mid_stream" && texts.length === 0)
    throw new ModelOverloaded(line.message ?? "Overloaded");
  throw Object.assign(new ModelStreamCut(`the reply was cut: ${line.fault}`), { partial: texts.join("") });
}

function statusError(status: number, { message = `status ${status}`, retryAfter }: FaultLine): Error {
  const seconds = /^\d+(\.\d+)?$/.test(String(retryAfter)) ? Number(retryAfter) : undefined;
  const details = seconds === undefined ? {} : { retryAfterMs: seconds * 1000 };
  if (status === 429) return new ModelRateLimited(message, details);
  if (status === 529) return new ModelOverloaded(message, details);
  if (status === 401 || status === 403) return new ModelAuthFailed(message, details);
  if (status >= 500 || status === 408 || status === 409) return new ModelUnavailable(message, details);
  return new ModelRejected(message, details);
}

function inputTokens({ system, tools, messages }: ModelRequest): number {
  return roughTokens({ system, tools, messages } as unknown as Json);
}
