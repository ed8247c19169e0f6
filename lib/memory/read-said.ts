// What the user said in a turn, from the log: the material of long-term memory.
import { textOf } from "../core/content.ts";
import type { ModelAgent } from "../core/define-agent.ts";
import type { Event } from "../core/event.ts";
import { ownSentences } from "../core/memory/own-sentences.ts";
import type { OwnSentence } from "../core/memory/plan-facts.ts";
import { isPersonal } from "../core/memory.ts";
import type { SessionState } from "../core/state.ts";
import type { Deps } from "../steps/deps.ts";
import type { Head } from "../store/log.ts";

export type TurnPlace = { tenant: string; sessionId: string; turn: number };

export type Said = {
  head: Head;
  agent: ModelAgent;
  sentences: OwnSentence[];
  /** When the turn began, epoch milliseconds. */
  at: number;
  /** The log tells already what was learnt from it. */
  noted: boolean;
};

/** `unfinished`: the turn is open or has not begun. `void`: rolled back, erased, or the agent has no memory (any more). */
export async function readSaid(
  deps: Pick<Deps, "store" | "agents">,
  { tenant, sessionId, turn }: TurnPlace,
): Promise<Said | "unfinished" | "void"> {
  const head = await deps.store.log.head(tenant, sessionId);
  if (!head) return "void";
  const agent = deps.agents.get(head.state.agent);
  if (agent?.kind !== "agent" || !agent.memory.enabled) return "void";
  if (head.state.turns < turn || head.state.turn?.turn === turn) return "unfinished";
  const messages: Message[] = [];
  let noted = false;
  for await (const checkpoint of deps.store.log.lineage(tenant, sessionId, head.version)) {
    const { event } = checkpoint;
    if (checkpoint.sessionId !== sessionId) return "void";
    if (event.type === "memory.updated" && event.turn === turn) noted = true;
    if (checkpoint.state.turns === turn) messages.unshift(...messagesOf(event));
    if (event.type !== "turn.started" || event.turn > turn) continue;
    if (event.turn < turn) return "void";
    return { head, agent, sentences: sentencesOf(head.state, messages), at: checkpoint.at, noted };
  }
  return "void";
}

type Message = (Event & { type: "turn.started" })["messages"][number];

function messagesOf(event: Event): Message[] {
  return event.type === "turn.started" || event.type === "turn.steered" ? event.messages : [];
}

function sentencesOf(state: SessionState, messages: readonly Message[]): OwnSentence[] {
  return messages
    .filter((message) => isPersonal(state, [message]))
    .flatMap(({ content }, message) => ownSentences(textOf(content)).map((text) => ({ text, message })));
}
