// The one validator-and-repair before every model call (G12): whatever stands in the log, what is sent is
// valid for the Messages API. Pure; the originals in the log are never touched.
import type { Message } from "./content.ts";
import { InvalidInput } from "./errors.ts";
import { alternate, type Draft } from "./repair/alternate.ts";
import { cleanBlocks } from "./repair/clean-blocks.ts";
import { pairCalls } from "./repair/pair-calls.ts";

export { outcomeUnknown } from "./repair/pair-calls.ts";
export { validateMessages } from "./repair/validate-messages.ts";

export type RepairOptions = {
  /** The model that will be called: only its own thinking and opaque blocks are sent to it (H46). */
  model: string;
  /** Whether the agent has this tool: an invalid name is never mended into the name of a real tool. @default none known */
  isToolKnown?: (name: string) => boolean;
  /** The last message is a paused reply (`pause_turn`) that goes on as it stands (H41). @default false */
  paused?: boolean;
  /** Longest text block of a result, in characters, at least 200; the middle of longer ones is left out. @default no limit */
  maxResultChars?: number;
};

const firstMessage = "(Earlier messages are not shown.)";
const lastMessage = "Continue.";

/**
 * The messages as they may be sent, and what was mended, one line each (`message 3: …`, original index).
 * Idempotent: repairing the answer again changes nothing and says nothing. A call with its result in the
 * next message is never torn. Leaving out thinking of closed rounds or other models is the rule, not a
 * repair, and is not listed. Throws `InvalidInput` only for a `maxResultChars` below 200.
 */
export function repairMessages(
  messages: readonly Message[],
  options: RepairOptions,
): { messages: Message[]; repairs: string[] } {
  if (options.maxResultChars !== undefined && !(options.maxResultChars >= 200)) {
    throw new InvalidInput("maxResultChars: at least 200 characters, so that something is left to read");
  }
  const repairs: string[] = [];
  const clean = alternate(cleanBlocks(messages, options, repairs), repairs);
  const paired = alternate(pairCalls(clean, repairs), repairs);
  const ended = endWithUser(paired, options, repairs);
  const open = alternate(withoutClosedThinking(ended, options), repairs);
  const whole = trimEnd(startWithUser(open, repairs), repairs);
  return { messages: whole.map(({ role, content }) => ({ role, content }) as Message), repairs };
}

function endWithUser(draft: Draft[], options: RepairOptions, repairs: string[]): Draft[] {
  const last = draft.at(-1);
  if (last?.role === "user" || (last && options.paused)) return draft;
  // A reply that holds nothing to read (it was cut while thinking) is no reply.
  const silent = last?.content.every((block) => block.type === "thinking" || block.type === "opaque");
  if (last && silent) {
    repairs.push(`message ${last.from}: left out a last reply without text or call`);
    if (draft.length > 1) return draft.slice(0, -1);
  } else repairs.push("added a last user message");
  const rest = silent ? [] : draft;
  return [...rest, { from: -1, role: "user", content: [{ type: "text", text: lastMessage }] }];
}

/** Keeps thinking and opaque blocks only after the last user message that brings no result, and only the model's own. */
function withoutClosedThinking(draft: Draft[], options: RepairOptions): Draft[] {
  const input = draft.findLastIndex(
    (message) => message.role === "user" && message.content.every((block) => block.type !== "result"),
  );
  return draft.flatMap((message, at): Draft[] => {
    if (message.role === "user") return [message];
    const content = message.content.filter((block) => {
      const signed = block.type === "thinking" || block.type === "opaque";
      return !signed || (at > input && block.issuer === options.model);
    });
    return content.length > 0 ? [{ ...message, content }] : [];
  });
}

function startWithUser(draft: Draft[], repairs: string[]): Draft[] {
  if (draft[0]?.role === "user") return draft;
  repairs.push("added a first user message");
  return [{ from: -1, role: "user", content: [{ type: "text", text: firstMessage }] }, ...draft];
}

/** The API refuses a last reply (a paused one) whose text ends with white space. */
function trimEnd(draft: Draft[], repairs: string[]): Draft[] {
  const last = draft.at(-1);
  const block = last?.role === "assistant" ? last.content.at(-1) : undefined;
  if (last?.role !== "assistant" || block?.type !== "text" || block.text === block.text.trimEnd()) return draft;
  repairs.push(`message ${last.from}: cut white space at the end of the last reply`);
  const content = [...last.content.slice(0, -1), { ...block, text: block.text.trimEnd() }];
  return [...draft.slice(0, -1), { ...last, content }];
}
