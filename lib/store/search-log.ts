// Full-text search over a session's whole log, for what a summary or a window has dropped. The log is read and
// indexed in batches, so that memory does not grow with the session.
import type { Checkpoint } from "../core/checkpoint.ts";
import type { ResultBlock, UserContent } from "../core/content.ts";
import type { Event } from "../core/event.ts";
import type { Log } from "./log.ts";
import { rankTexts } from "./rank-texts.ts";

export type Passage = {
  /** Where it stands in the session's own log; absent for what a fork has inherited. */
  version?: number;
  turn: number;
  /** "user", "assistant", or "tool <name>". */
  from: string;
  text: string;
};

export type Search = {
  tenant: string;
  sessionId: string;
  /** Searches the past of this version, as the session sees it. */
  version: number;
  query: string;
  /** @default 5 */
  limit?: number;
  /** Tools whose calls and results are left out. @default none */
  without?: readonly string[];
};

/** Passages that fit the query best, best first; empty when no word of it occurs. */
export async function searchLog(log: Log, search: Search): Promise<Passage[]> {
  const { query, limit = 5 } = search;
  let best: Passage[] = [];
  let batch: Passage[] = [];
  for await (const checkpoint of log.lineage(search.tenant, search.sessionId, search.version)) {
    batch.push(...entriesOf(checkpoint, search));
    if (batch.length < batchSize) continue;
    best = rank([...best, ...batch], query, limit * keepFactor);
    batch = [];
  }
  return rank([...best, ...batch], query, limit);
}

/** The whole text of one version as a search would show it, in characters from `offset`; null when it says nothing. */
export async function readPassage(
  log: Log,
  at: { tenant: string; sessionId: string; version: number; offset?: number; maxChars: number },
): Promise<(Passage & { totalChars: number }) | null> {
  const checkpoint = await log.at(at.tenant, at.sessionId, at.version);
  const said = checkpoint ? textsOf(checkpoint.event, []) : [];
  if (!checkpoint || said.length === 0) return null;
  const whole = said.map(({ text }) => text).join("\n\n");
  const text = whole.slice(at.offset ?? 0, (at.offset ?? 0) + at.maxChars).toWellFormed();
  return { version: at.version, turn: turnOf(checkpoint), from: said[0]?.from ?? "", text, totalChars: whole.length };
}

/** Passages in one index. */
const batchSize = 2000;
/** So many times the answer is kept of each batch: scores of different batches cannot be compared, so all meet once more. */
const keepFactor = 4;
const passageChars = 2000;

function rank(entries: readonly Passage[], query: string, limit: number): Passage[] {
  const texts = entries.map(({ text }) => text);
  return rankTexts(texts, query)
    .slice(0, limit)
    .flatMap((at) => entries[at] ?? []);
}

function entriesOf(checkpoint: Checkpoint, { sessionId, without = [] }: Search): Passage[] {
  const at = checkpoint.sessionId === sessionId ? { version: checkpoint.version } : {};
  return textsOf(checkpoint.event, without).flatMap(({ from, text }) =>
    pieces(text).map((piece) => ({ ...at, turn: turnOf(checkpoint), from, text: piece })),
  );
}

function turnOf({ state }: Checkpoint): number {
  return state.turn?.turn ?? state.turns;
}

function textsOf(event: Event, without: readonly string[]): { from: string; text: string }[] {
  switch (event.type) {
    case "turn.started":
    case "turn.steered":
      return event.messages.map((message) => ({ from: "user", text: plainText(message.content) }));
    case "model.replied":
      return event.content.flatMap((block) => {
        if (block.type === "text") return [{ from: "assistant", text: block.text }];
        if (block.type !== "call" || without.includes(block.name)) return [];
        return [{ from: "assistant", text: `calls ${block.name} ${JSON.stringify(block.input)}` }];
      });
    case "call.finished":
      if (without.includes(event.tool)) return [];
      return [{ from: `tool ${event.tool}`, text: plainText(event.result.content) }];
    default:
      return [];
  }
}

function plainText(content: readonly (UserContent | ResultBlock["content"][number])[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** Long texts in pieces, cut at a line or a word where there is one near, overlapping a little. */
function pieces(text: string): string[] {
  if (text.trim() === "") return [];
  const cut: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + passageChars >= text.length ? text.length : breakBefore(text, at + passageChars);
    cut.push(text.slice(at, end).toWellFormed());
    at = end >= text.length ? end : Math.max(at + 1, end - overlapChars);
  }
  return cut;
}

const overlapChars = 200;

function breakBefore(text: string, end: number): number {
  const near = text.slice(end - 200, end);
  const line = near.lastIndexOf("\n");
  const space = line === -1 ? near.lastIndexOf(" ") : line;
  return space === -1 ? end : end - 200 + space + 1;
}
