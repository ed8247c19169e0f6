// The common workload: N rounds of an instant reply (~1 KB, one `read` call) and a result of ~2 KB, context a
// sliding window of 8k tokens. Everything follows from the number of the round, so that a fresh process goes on.
import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { defineAgent, type ModelAgent } from "../lib/core/define-agent.ts";
import { defineTool } from "../lib/core/define-tool.ts";
import type { Model, ModelReply, ModelRequest } from "../lib/ports/model.ts";
import { type Accepted, acceptMessage } from "../lib/sessions/accept.ts";
import type { Deps } from "../lib/steps/deps.ts";

export const tenant = "bench";
export const replyChars = 1024;
export const resultChars = 2048;

/** A turn may take this many rounds and more; nothing else of it is limited. */
export function benchAgent(): ModelAgent {
  return defineAgent({
    name: "bench",
    instructions: "Look every item up, one after the other, and say what it is.",
    model: { id: "bench-model", maxTokens: 1024 },
    context: "sliding-window",
    windowTokens: 8000,
    tools: [lookUp],
    limits: { roundsPerTurn: 100_000, turnMinutes: 24 * 60 },
    session: { reset: "off" },
  });
}

const lookUp = defineTool({
  name: "look_up",
  description: "Answers what is known about an item.",
  input: z.object({ item: z.int() }),
  effect: "read",
  run: ({ item }) => prose(item * 2 + 1, resultChars),
});

export type BenchModelOptions = {
  /** Replies with a call; the one after them ends the turn. */
  rounds: number;
  /** The turn ends after this many calls of its own. @default all rounds are one turn */
  callsPerTurn?: number;
  /** Told before each reply, with the session and the number of the round, from 1. */
  onAsked?: (session: string, round: number) => void;
};

/** Usage is fixed, so that nothing is spent on counting. */
export function benchModel({ rounds, onAsked, callsPerTurn = rounds }: BenchModelOptions): Model {
  return {
    async reply(request): Promise<ModelReply> {
      // Every real model lets the event loop run once; without it nothing else in the process would ever run.
      await setImmediate();
      const { session, round } = placeOf(request);
      onAsked?.(session, round);
      const usage = { inputTokens: 6000, outputTokens: 250, cacheReadTokens: 0, cacheWriteTokens: 0 };
      const base = { model: request.model, usage, requestId: `req_${session}_${round}` };
      if (round > rounds || callsInTurn(request) >= callsPerTurn)
        return { ...base, stop: "end_turn", content: [{ type: "text", text: "All items are known." }] };
      const call = { type: "call" as const, id: `call_${session}_${round}`, name: lookUp.name, input: { item: round } };
      return { ...base, stop: "tool_use", content: [{ type: "text", text: prose(round * 2, replyChars) }, call] };
    },
  };
}

/** Sends the message that starts session number `session`. */
export async function startSession(deps: Deps, session: number): Promise<Accepted> {
  return acceptMessage(deps, {
    tenant,
    user: "someone",
    key: `agent:bench:cli:dm:${session}`,
    content: [{ type: "text", text: `Session ${session}: look up all items.` }],
    via: "api",
  });
}

/** The last call says where the session is; before the first, its message does. */
function placeOf({ messages }: ModelRequest): { session: string; round: number } {
  for (const { content } of messages.toReversed()) {
    for (const block of content) {
      if (block.type !== "call") continue;
      const [, session = "0", round = "0"] = block.id.split("_");
      return { session, round: Number(round) + 1 };
    }
  }
  const text = messages[0]?.content.find((block) => block.type === "text")?.text ?? "";
  return { session: /Session (\d+):/.exec(text)?.[1] ?? "0", round: 1 };
}

/** Calls since the last message of a person, as far as the window shows them. */
function callsInTurn({ messages }: ModelRequest): number {
  const asked = messages.findLastIndex(
    ({ role, content }) => role === "user" && content.some(({ type }) => type === "text"),
  );
  return messages.slice(asked + 1).flatMap(({ content }) => content.filter(({ type }) => type === "call")).length;
}

const words =
  "account amount approval balance bank branch called case client closed company country customer daily date day deposit document due during evidence found from he his holds in incoming is it known large late letter limit list made match month name no not noted of on one opened order other paid payment person reason received record report risk same sent seven since small source street sum the their then three time to transfer under until was were which with year".split(
    " ",
  );

/** English-like text of a given length that compresses about as well as prose; the same for the same seed. */
export function prose(seed: number, chars: number): string {
  let [text, random] = [`Entry ${seed}:`, seed + 1];
  while (text.length < chars) {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    const word = words[random % 7 === 0 ? (random >>> 8) % 12 : (random >>> 8) % words.length] ?? "";
    text += random % 31 === 0 ? ` ${random % 100_000}.` : ` ${word}`;
  }
  return text.slice(0, chars);
}
