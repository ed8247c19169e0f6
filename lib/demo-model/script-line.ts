// The lines of a scripted model: one line, one reply. Shared by the demo server and by `scriptedModel`, so that
// a test reads the same whether the model is in the process or on the wire.
import type { Json, JsonObject } from "../core/json.ts";

/** `raw` sends these characters as the arguments in place of `input`, sound JSON or not. */
export type ScriptCall = { name: string; id?: string; input?: JsonObject; raw?: string };

export type ReplyLine = {
  text?: string;
  calls?: ScriptCall[];
  /** Sent before the text, signed. */
  thinking?: string;
  /** Blocks of the Messages API as they stand, after the thinking: redacted thinking, server tools, brand-new kinds. */
  blocks?: JsonObject[];
  /** @default "tool_use" with calls, else "end_turn" */
  stop?:
    | "end_turn"
    | "max_tokens"
    | "refusal"
    | "pause_turn"
    | "stop_sequence"
    | "tool_use"
    | "brand_new"
    | (string & {});
};

/**
 * A number is an HTTP status. Within a 200 stream: `cut` drops the socket, `end_early` closes it politely,
 * `overloaded_mid_stream` sends an error event, `cut_in_tool_json` drops the socket in the middle of a call's
 * arguments, `hang` goes silent until the client gives up.
 */
export type Fault = number | "cut" | "end_early" | "overloaded_mid_stream" | "cut_in_tool_json" | "hang";

export type FaultLine = {
  fault: Fault;
  /** The retry-after header, as it stands. Seconds, a date, or nonsense. */
  retryAfter?: string | number;
  /** What the error says. @default a text for the status */
  message?: string;
  /** Pieces of text sent before the fault; 0: before the first one. @default 3 */
  afterTokens?: number;
  /** The text that is cut. @default "one two three … " */
  text?: string;
};

export type ScriptLine = ReplyLine | FaultLine;

export function isFault(line: ScriptLine): line is FaultLine {
  return "fault" in line;
}

/** A text in the pieces in which it is streamed: about a word each, blanks at their end. */
export function pieces(text: string): string[] {
  return text.match(/\s*\S{1,24}\s*/gu) ?? (text === "" ? [] : [text]);
}

/** The text that a stream fault cuts, and how many of its pieces arrive. */
export function cutText(line: FaultLine): string[] {
  const all = pieces(line.text ?? Array.from({ length: 200 }, (_, i) => `word${i + 1} `).join(""));
  return all.slice(0, line.afterTokens ?? 3);
}

/** Tokens of any JSON value or text, roughly: a quarter per ASCII character, more for other scripts. */
export function roughTokens(value: Json): number {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  let quarters = 0;
  for (const char of text) quarters += char < "\u0080" ? 1 : char < "\u0800" ? 2 : char > "\uffff" ? 6 : 4;
  return Math.ceil(quarters / 4);
}
