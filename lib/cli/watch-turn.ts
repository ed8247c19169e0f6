// Watching one turn to its end. Ctrl-C ends the watching and says how to come back; the session never notices.
import type { Client } from "./client.ts";
import { followSession } from "./follow-session.ts";
import type { Output } from "./output.ts";
import { createTurnPrinter, type TurnEnd } from "./turn-printer.ts";

export type WatchOptions = {
  client: Client;
  output: Output;
  sessionId: string;
  turn: number;
  /** Version after which to begin. */
  after: number;
  /** The turn runs already. @default false */
  joining?: boolean;
  signal: AbortSignal;
};

/** The end of the turn, or null when `signal` ended the watching before. */
export async function watchTurn(options: WatchOptions): Promise<TurnEnd | null> {
  const { client, output, sessionId, after, signal } = options;
  const printer = createTurnPrinter(output, options.turn, options.joining);
  for await (const item of followSession({ client, sessionId, after, signal, say: printer.note })) {
    const end = printer.show(item);
    if (end) return end;
  }
  return null;
}

/** Aborts on the next Ctrl-C; `release` gives Ctrl-C back. */
export function onInterrupt(): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.once("SIGINT", stop);
  return { signal: controller.signal, release: () => process.off("SIGINT", stop) };
}

/** What Ctrl-C says: `what` happened, and how to come back. */
export function comeBack(output: Output, what: string, at: { key: string; sessionId: string }): void {
  output.note(`\n${what} Come back with:\n  baton chat --key '${at.key}'\n  baton show ${at.sessionId}`);
}

export const stoppedWatching = "Stopped watching; the session goes on.";
