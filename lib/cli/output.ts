// What commands print. Text of users, models and tools is hostile: control sequences never reach the terminal.
import { stripVTControlCharacters } from "node:util";
import pc from "picocolors";

export type Output = {
  readonly json: boolean;
  /** A person is looking: colours, text as it comes. */
  readonly terminal: boolean;
  readonly paint: ReturnType<typeof pc.createColors>;
  /** A line of the result. */
  line(text?: string): void;
  /** A value of the result as one JSON line. */
  value(value: unknown): void;
  /** Without a line end, for text as it comes. */
  write(text: string): void;
  /** About the work, not its result: to stderr. */
  note(text: string): void;
  error(text: string): void;
};

export function createOutput(options: { json: boolean }): Output {
  const terminal = process.stdout.isTTY === true && !options.json;
  // picocolors also turns colours on for CI; a pipe gets them only when they are forced.
  const forced = "FORCE_COLOR" in process.env;
  const paint = pc.createColors((terminal || forced) && pc.isColorSupported);
  return {
    json: options.json,
    terminal,
    paint,
    line: (text = "") => void process.stdout.write(`${text}\n`),
    value: (value) => void process.stdout.write(`${JSON.stringify(value)}\n`),
    write: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(`${text}\n`),
    error: (text) => void process.stderr.write(`${printable(text)}\n`),
  };
}

/** Control characters (C0, C1), and marks that reorder text (Unicode TR 36, 3.1). */
const unprintable = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Text as it may go to a terminal: letters of every language stay, what would act is gone but line feed and tab. */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(unprintable, (mark) => (mark === "\n" || mark === "\t" ? mark : ""));
}

/** The same on one line of at most `max` characters. */
export function oneLine(text: string, max = 100): string {
  const flat = Array.from(printable(text).replace(/\s+/g, " ").trim());
  return flat.length > max ? `${flat.slice(0, max - 1).join("")}…` : flat.join("");
}
