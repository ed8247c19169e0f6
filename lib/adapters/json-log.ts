// Log lines as JSON, one a line, to a stream. Fields are ids and numbers; content and secrets never come here (G20).
import type { Log } from "../ports/clock.ts";

const levels = { info: 1, warn: 2, error: 3, off: 4 } as const;

export type LogLevel = keyof typeof levels;

export function createJsonLog(options: { write: (line: string) => void; level?: LogLevel; now?: () => number }): Log {
  const least = levels[options.level ?? "info"];
  const now = options.now ?? Date.now;
  const line =
    (level: keyof typeof levels) =>
    (message: string, fields: Record<string, string | number | boolean | undefined> = {}) => {
      if (levels[level] < least) return;
      options.write(`${JSON.stringify({ at: new Date(now()).toISOString(), level, message, ...fields })}\n`);
    };
  return { info: line("info"), warn: line("warn"), error: line("error") };
}
