// One session of 200 turns, the same for every strategy: what users ask, what tools answer and what the model does
// follow from the number of the turn. A dozen details are planted and asked for at the end.
import * as z from "zod";
import type { AssistantContent, Message } from "../lib/core/content.ts";
import { type ContextStrategy, defineAgent, type ModelAgent } from "../lib/core/define-agent.ts";
import { defineTool } from "../lib/core/define-tool.ts";
import type { JsonObject } from "../lib/core/json.ts";
import type { ModelRequest } from "../lib/ports/model.ts";
import { prose } from "./workload.ts";

export const turns = 200;
/** Priced, so that the figures have a price. */
export const modelId = "claude-sonnet-5-5";

const never = "Never mail customers without my OK";

/** What the user says in turn `t`, from 1. */
export function userText(t: number): string {
  const rule = t === 7 ? ` And for all that follows: ${never}.` : "";
  return `Turn ${t}: please check invoice ${invoice(t)} of ${customer(t)}.${rule}`;
}

/** Questions asked after the last turn, each with the words that an answer needs. */
export const questions: { kind: "rule" | "decision" | "effect" | "early" | "middle" | "late"; needs: string }[] = [
  { kind: "rule", needs: never },
  ...[43, 123].map((t) => ({ kind: "decision" as const, needs: decision(t) })),
  ...[5, 55, 105, 195].map((t) => ({ kind: "effect" as const, needs: invoice(t) })),
  ...[3, 12, 31, 48].map((t) => ({ kind: "early" as const, needs: amount(t) })),
  ...[77, 96, 118, 131].map((t) => ({ kind: "middle" as const, needs: amount(t) })),
  ...[181, 190, 197, 200].map((t) => ({ kind: "late" as const, needs: amount(t) })),
];

/** What a search for the answer would ask for. */
export function searchFor(needs: string): string {
  const t = Array.from({ length: turns }, (_, i) => i + 1).find((i) => amount(i) === needs);
  return t === undefined ? needs : `amount of invoice ${invoice(t)}`;
}

export function recordedAgent(context: ContextStrategy, windowTokens: number): ModelAgent {
  const input = z.object({ turn: z.int(), invoice: z.string() });
  const lookUp = defineTool({
    name: "look_up",
    description: "Reads an invoice.",
    input,
    effect: "read",
    run: ({ turn }) => ({ turn, step: 1, invoice: invoice(turn), amount: amount(turn), history: prose(turn, 1400) }),
  });
  const book = defineTool({
    name: "book",
    description: "Books an invoice.",
    input,
    effect: "once",
    run: ({ turn }) => ({ turn, step: 2, booked: invoice(turn) }),
  });
  return defineAgent({
    name: "clerk",
    instructions: `You check invoices. ${prose(9999, 2000)}`,
    model: { id: modelId, maxTokens: 2000, windowTokens },
    tools: [lookUp, book],
    context,
    limits: { roundsPerTurn: 20 },
  });
}

/** What the model answers; from the request alone. */
export function answer(request: ModelRequest): AssistantContent[] {
  const said = texts(request.messages.slice(-1));
  if (request.tools.length === 0) return [{ type: "text", text: summary(said) }];
  const [, asked, done, step] = [...said.matchAll(/Turn (\d+):|"step":(?=(\d))\d+,"turn":(\d+)/g)].at(-1) ?? [];
  const t = Number(asked ?? step ?? 0);
  const call = (name: string, input: JsonObject): AssistantContent[] => [
    { type: "text", text: `For turn ${t} I use ${name}.` },
    { type: "call", id: `toolu_${t}_${name}`, name, input },
  ];
  if (asked) return call("look_up", { turn: t, invoice: invoice(t) });
  if (Number(done) === 1 && t % 10 === 5) return call("book", { turn: t, invoice: invoice(t) });
  const offered = request.tools.some(({ name }) => name === "update_progress");
  const notes = t === 7 ? { constraints: [never] } : t % 20 === 3 ? notesOf(t) : null;
  if (Number(done) === 1 && offered && notes) return call("update_progress", notes);
  const decided = t % 20 === 3 ? ` I decided that ${decision(t)}.` : "";
  return [{ type: "text", text: `Checked: ${invoice(t)} is in order.${decided} ${prose(t + 5000, 250)}` }];
}

function notesOf(t: number): JsonObject {
  const decisions = [{ what: decision(t), why: "it was late" }];
  return { goal: "check all invoices", done: [`turns up to ${t}`], next: `turn ${t + 1}`, decisions };
}

/** Stands in for a summariser: the newest lines that hold an amount, forty at most. */
function summary(said: string): string {
  const found = [...said.matchAll(/"amount":"([^"]+)"[^\n]*?"invoice":"([^"]+)"/g)].slice(-40);
  const before = [...said.matchAll(/^\| (INV-\d+: EUR [\d.]+)$/gm)].map(([, line]) => line ?? "");
  const lines = [...before, ...found.map(([, sum, id]) => `${id}: ${sum}`)].slice(-40);
  return ["Goal: check the invoices one by one.", "State: these were checked:", ...lines, "Next step: go on."].join(
    "\n",
  );
}

/** All that a request says. */
export function texts(messages: readonly Message[]): string {
  return messages
    .flatMap(({ content }): { type: string; text?: string; content?: unknown }[] => content as never)
    .map(
      (block) => block.text ?? (block.content as { text?: string }[] | undefined)?.map((part) => part.text).join("\n"),
    )
    .join("\n");
}

function invoice(t: number): string {
  return `INV-${10_000 + ((t * 7919) % 90_000)}`;
}

function customer(t: number): string {
  return `customer C-${1000 + ((t * 31) % 500)}`;
}

function amount(t: number): string {
  return `EUR ${(((t * 48_271) % 1_000_000) / 100).toFixed(2)}`;
}

function decision(t: number): string {
  return `rule ${t * 3} applies from turn ${t}`;
}
