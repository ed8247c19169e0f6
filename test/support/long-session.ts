// A session that outgrows its window: an agent with a small one, and a model that answers by what stands at the end of
// the request, so that cuts, summaries and crashes change nothing about what it says next.
import * as z from "zod";
import type { AssistantContent, Message, ResultBlock, UserContent } from "../../lib/core/content.ts";
import { type AgentOptions, defineAgent, type ModelAgent } from "../../lib/core/define-agent.ts";
import { defineTool } from "../../lib/core/define-tool.ts";
import { estimateTokens } from "../../lib/core/estimate.ts";
import type { Model, ModelOptions, ModelReply, ModelRequest } from "../../lib/ports/model.ts";

/** Words that no other result has, so that a detail can be asked for. */
export const detailOf = (n: number) => `the vault code of item ${n} is ZX${(n * 7919) % 100_000}Q`;

const padding = "The quick brown fox jumps over the lazy dog near the river bank. ";

export type LongAgentOptions = Partial<AgentOptions> & {
  /** Called for each filing. */
  filed?: (n: number, key: string) => void;
  /** Repeats of a sentence of 65 characters in each result. @default 8 */
  resultLines?: number;
};

/** Tools: look (read, ~130 tokens a result) and file (once, verified). Window 6,000 tokens, a quarter of it fixed. */
export function longAgent(options: LongAgentOptions = {}): ModelAgent {
  const { filed, resultLines = 8, ...more } = options;
  const input = z.object({ n: z.int() });
  const done = new Set<string>();
  const look = defineTool({
    name: "look",
    description: "looks at item n",
    input,
    effect: "read",
    run: ({ n }) => ({ n, detail: detailOf(n), text: padding.repeat(resultLines) }),
  });
  const file = defineTool({
    name: "file",
    description: "files item n",
    input,
    effect: "once",
    resources: (receipt) => [(receipt as { receipt: string }).receipt],
    run: ({ n }, ctx) => {
      done.add(ctx.idempotencyKey);
      filed?.(n, ctx.idempotencyKey);
      return { n, receipt: `R-${n}` };
    },
    verify: (key, { n }) =>
      done.has(key) ? { status: "done", result: { n, receipt: `R-${n}` } } : { status: "not_done" },
  });
  return defineAgent({
    name: "long",
    instructions: "Look at the items, file what must be filed.",
    model: { id: "scripted", maxTokens: 500, windowTokens: 6000 },
    tools: [look, file],
    context: "compaction",
    ...more,
  });
}

export type LongModel = Model & {
  /** Requests of the agent and of the summariser, in order. */
  requests: ModelRequest[];
  summaries: ModelRequest[];
};

export type LongModelOptions = {
  /** Calls of round `n` of the session; null ends the turn with an answer. */
  calls: (n: number) => { name: string; input: Record<string, unknown> }[] | null;
  /** @default a short summary */
  summarise?: (request: ModelRequest, options: ModelOptions) => Promise<Partial<ModelReply>> | Partial<ModelReply>;
};

/** User texts hold the number of the next round, "go 3"; results hold that of theirs. */
export function longModel(options: LongModelOptions): LongModel {
  const requests: ModelRequest[] = [];
  const summaries: ModelRequest[] = [];
  return {
    requests,
    summaries,
    async reply(request, how = {}) {
      how.signal?.throwIfAborted();
      if (isSummary(request)) {
        summaries.push(request);
        const own = await (options.summarise ?? goodSummary)(request, how);
        return { ...usual(request), content: [], stop: "end_turn", ...own };
      }
      requests.push(request);
      const n = nextRound(request.messages);
      const calls = options.calls(n);
      const content: AssistantContent[] = calls
        ? calls.map((call, i) => ({ type: "call", id: `call_${n}_${i}`, name: call.name, input: call.input as never }))
        : [{ type: "text", text: `Answer after round ${n - 1}.` }];
      return { ...usual(request), content, stop: calls ? "tool_use" : "end_turn" };
    },
  };
}

export function isSummary(request: ModelRequest): boolean {
  return request.tools.length === 0 && request.system.some(({ text }) => text.startsWith("You write the summary"));
}

export function goodSummary(): Partial<ModelReply> {
  const text =
    "Goal: look at the items.\nState: some were looked at.\nOpen questions: none.\nNext step: the next item.";
  return { content: [{ type: "text", text }] };
}

/** All that a request says, as one text. */
export function textOfRequest(request: Pick<ModelRequest, "messages">): string {
  return request.messages
    .flatMap(({ content }): (UserContent | ResultBlock | AssistantContent)[] => content)
    .map((block) => {
      if (block.type === "text") return block.text;
      return block.type === "result" ? block.content.map((part) => ("text" in part ? part.text : "")).join("\n") : "";
    })
    .join("\n");
}

function usual(request: ModelRequest) {
  const inputTokens = estimateTokens(request);
  return { model: request.model, usage: { inputTokens, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 } };
}

/** The round that comes next, read from the end of the conversation. */
function nextRound(messages: readonly Message[]): number {
  const said = textOfRequest({ messages: messages.slice(-1) });
  const rounds = [...said.matchAll(/"n":(\d+)|\bgo (\d+)/g)];
  const [, done, go] = rounds.at(-1) ?? [];
  if (go !== undefined) return Number(go);
  // Results without a number (built-in tools): the call they answer has one.
  const asked = messages.findLast((message) => message.role === "assistant")?.content ?? [];
  const id = asked.findLast((block) => block.type === "call")?.id;
  return Number(done ?? /^call_(\d+)_/.exec(id ?? "")?.[1] ?? 0) + 1;
}
