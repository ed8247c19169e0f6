// The conversation as the model sees it, from events in order: pure mapping, the same bytes for the same events,
// so that what was sent once stays a prefix of what is sent next.
import type {
  AssistantContent,
  AssistantMessage,
  CallBlock,
  Message,
  ResultBlock,
  UserContent,
  UserMessage,
} from "../content.ts";
import { textOf } from "../content.ts";
import type { Event, EventOf, InboxMessage } from "../event.ts";
import type { HandoffRecord } from "../handoff.ts";
import { detectLanguage, renderHandoff } from "../render-handoff.ts";
import { fence, note } from "./fence.ts";
import type { LoggedEvent } from "./logged-event.ts";
import { stubResult } from "./stub-result.ts";

export type MessagesOptions = {
  /** Model that will read them: thinking of another one is not sent (H46). */
  model: string;
  /** First version of the open turn: thinking is sent back only inside it. */
  openTurnVersion?: number;
  /** Constraints that stand before these messages already. */
  constraints: readonly string[];
  /** True: changes of the constraints are noted where they happened. False: `constraints` are the current ones. */
  noteConstraints: boolean;
  /** Results over this many tokens are shown as stubs. */
  maxResultTokens: number;
  /** Results before this version (of a compaction) are stubs over `stubTokens`. */
  stubBefore?: number;
  stubTokens?: number;
  /** The handoff record that stood before these messages: shown again on a resume. */
  handoff?: HandoffRecord;
  language: string;
};

export type BuiltMessages = {
  messages: Message[] /** Constraints seen, with the given ones. */;
  constraints: string[];
};

/** The messages of `events`; first and last role are whatever the events give. Roles alternate. */
export function messagesFrom(events: readonly LoggedEvent[], options: MessagesOptions): BuiltMessages {
  const messages: Message[] = [];
  let constraints = [...options.constraints];
  let waiting: UserContent[] = [];
  let reply: OpenReply | null = null;
  const { openTurnVersion = Number.POSITIVE_INFINITY } = options;
  let inOpenTurn = events.every((logged) => logged.version > openTurnVersion);
  let language = languageOfTurn(events.find(({ event }) => event.type === "turn.started")?.event) ?? options.language;
  let handoff = options.handoff;

  const say = (text: string) => waiting.push({ type: "text", text });
  const endRound = (why?: string) => {
    if (reply) pushUser(messages, roundResults(reply, why));
    reply = null;
  };
  const speak = () => {
    // A paused reply goes back unchanged and is continued: nothing may come between (H41).
    const paused = reply?.event.stop === "pause_turn";
    endRound();
    if (paused) return;
    pushUser(messages, waiting);
    waiting = [];
  };

  for (const { event, version } of events) {
    if (version === openTurnVersion) inOpenTurn = true;
    switch (event.type) {
      case "session.created":
        if (event.reason in createdNotes) say(note(createdNotes[event.reason as keyof typeof createdNotes]));
        if (event.sideEffects?.length) say(fence(happenedTitle, lines(event.sideEffects)));
        if (event.handoff) {
          handoff = event.handoff;
          say(fence("handoff record of the session before", renderHandoff(event.handoff, language)));
          constraints = [...new Set([...constraints, ...event.handoff.constraints])];
        }
        break;
      case "turn.started":
        endRound("the turn was ended");
        pushUser(messages, [...waiting, ...texts(event.messages)]);
        waiting = [];
        language = languageOfTurn(event) ?? language;
        break;
      case "turn.steered":
        waiting.push(...texts(event.messages));
        break;
      case "model.replied":
        speak();
        pushAssistant(messages, sendable(event.content, { model: options.model, inOpenTurn }));
        reply = { event, results: [], started: new Set() };
        break;
      case "call.started":
        reply?.started.add(event.index);
        break;
      case "call.finished": {
        const old = options.stubBefore !== undefined && version < options.stubBefore;
        const maxTokens = old ? (options.stubTokens ?? options.maxResultTokens) : options.maxResultTokens;
        reply?.results.push(stubResult(event.result, { maxTokens, version }));
        break;
      }
      case "handoff.updated": {
        handoff = event.record;
        if (!options.noteConstraints) break;
        const lifted = constraints.filter((text) => !event.record.constraints.includes(text));
        if (lifted.length > 0) say(fence("standing constraints that the user has lifted", lines(lifted)));
        constraints = constraints.filter((text) => !lifted.includes(text));
        const added = event.record.constraints.filter((text) => !constraints.includes(text));
        if (added.length > 0) say(fence("standing constraints given by the user, word for word", lines(added)));
        constraints.push(...added);
        break;
      }
      case "session.resumed":
        say(note(resumedNote(event.cause)));
        if (handoff) say(fence("handoff record", renderHandoff(handoff, language)));
        break;
      case "notice":
        say(note(event.text));
        break;
      case "rolled.back":
        endRound("the session was rolled back");
        say(note("The session was rolled back to this point. What came after it is not shown."));
        if (event.sideEffects.length > 0) say(fence(happenedTitle, lines(event.sideEffects)));
        break;
      case "turn.finished":
      case "turn.failed":
        endRound("the turn was ended");
        if (messages.at(-1)?.role === "user") pushAssistant(messages, [{ type: "text", text: endNote(event) }]);
        break;
    }
  }
  speak();
  return { messages, constraints };
}

export const happenedTitle = "side effects that have already happened; do not repeat them";

/** What the model is told when work goes on after an interruption. */
export function resumedNote(cause: string): string {
  return `The session was interrupted (${cause}) and goes on from its last checkpoint. All that stands above has happened; do not start over and do not repeat it.`;
}

const createdNotes = {
  idle: "This is a new session: the one before was closed after a long time without a message. Its conversation is not shown.",
  daily: "This is a new session: the one before was closed at the daily boundary. Its conversation is not shown.",
  suspended: "This is a new session: the one before was suspended. Its conversation is not shown.",
  requested: "This is a new session, as the user asked. The conversation before is not shown.",
  maxDefer: "This is a new session: the one before was closed with unfinished work. Its conversation is not shown.",
  fork: "This session is a branch: it goes on from what stands above, and what came later there is not shown.",
};

type OpenReply = { event: EventOf<"model.replied">; results: ResultBlock[]; started: Set<number> };

/** One user message after a reply: results in call order, then the note on a cut (H35, H40). */
function roundResults(reply: OpenReply, why?: string): UserMessage["content"] {
  const left = [...reply.results];
  const calls = reply.event.content.filter((block): block is CallBlock => block.type === "call");
  const results = calls.map((call, i) => {
    const at = left.findIndex((result) => result.callId === call.id);
    const found = at === -1 ? undefined : left.splice(at, 1)[0];
    return found ?? missingResult(call, { reply, index: i, why });
  });
  if (reply.event.stop !== "max_tokens") return results;
  return [...results, { type: "text", text: note(calls.length > 0 ? cutCall : cutText) }];
}

const cutText =
  "The output limit cut your last reply. Go on exactly where it stops, or be shorter; do not repeat what was said.";
const cutCall = "The output limit cut your last reply. Calls in it were not run. Be shorter, or split the work.";

function missingResult(
  call: CallBlock,
  found: { reply: OpenReply; index: number; why: string | undefined },
): ResultBlock {
  const planned = found.reply.event.calls.find((candidate) => candidate.id === call.id);
  const started = found.reply.started.has(planned?.index ?? found.index);
  const text = started
    ? "Outcome unknown: the call was started and no result is stored. Verify before you repeat it."
    : found.reply.event.stop === "max_tokens"
      ? "Not run: the reply was cut by the output limit."
      : `Not run: ${planned?.refused ?? call.invalid ?? found.why ?? "no result is stored"}.`;
  return { type: "result", callId: call.id, content: [{ type: "text", text }], isError: true };
}

/**
 * What of a stored reply may be sent: thinking only to the model that wrote it, signed, inside the open turn;
 * opaque blocks only to their issuer (H46).
 */
function sendable(
  content: readonly AssistantContent[],
  to: { model: string; inOpenTurn: boolean },
): AssistantContent[] {
  return content.filter((block) => {
    if (block.type === "thinking") return to.inOpenTurn && block.signature !== "" && isIssuer(block.issuer, to.model);
    return block.type !== "opaque" || isIssuer(block.issuer, to.model);
  });
}

/** Ids with and without their date name the same model. */
export function isIssuer(issuer: string, model: string): boolean {
  const bare = (id: string) => id.replace(/-(\d{8}|latest)$/, "");
  return issuer === model || (bare(issuer) === bare(model) && (bare(issuer) === issuer || bare(model) === model));
}

function endNote(event: EventOf<"turn.finished"> | EventOf<"turn.failed">): string {
  if (event.endReason === "completed") return event.answer.trim() || note("The turn ended without an answer.");
  const told = event.answer.trim() ? ` The user was told: ${event.answer}` : "";
  return note(`The turn ended: ${event.endReason}.${told}`);
}

/** Language of a turn's message; undefined when `event` starts no turn, or nobody has written to it. */
export function languageOfTurn(event: Event | undefined): string | undefined {
  return event?.type === "turn.started" && !event.project?.auto
    ? detectLanguage(textOf(texts(event.messages)))
    : undefined;
}

function texts(messages: readonly InboxMessage[]): UserContent[] {
  return messages.flatMap((message) => message.content);
}

export function lines(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join("\n");
}

function pushUser(messages: Message[], content: UserMessage["content"]): void {
  if (content.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === "user") messages[messages.length - 1] = { ...last, content: [...last.content, ...content] };
  else messages.push({ role: "user", content });
}

function pushAssistant(messages: Message[], content: AssistantMessage["content"]): void {
  if (content.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === "assistant") messages[messages.length - 1] = { ...last, content: [...last.content, ...content] };
  else messages.push({ role: "assistant", content });
}
