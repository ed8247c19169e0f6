// Turns from which nobody has learnt yet, over all tenants. Apart from the sweeper of sessions: a model's answer takes
// seconds, and nothing that people wait for waits behind it.
import type { Deps } from "../steps/deps.ts";
import { memoryPrefix } from "../store/keys.ts";
import { lessonTurn } from "../store/lessons.ts";
import type { DueRow } from "../store/statuses.ts";
import { learns, type Remembered, rememberTurn } from "./remember.ts";

const pageSize = 50;
/** Model calls at a time. */
const atOnce = 5;

/**
 * Looks after everything that is due until `before` (epoch ms); answers how many of each. One that fails does not stop the
 * others. `goOn`: asked before each few; false ends the run, and the next one begins with what is left.
 */
export async function sweepMemory(
  deps: Deps,
  { before, goOn = () => true }: { before: number; goOn?: () => boolean },
): Promise<Partial<Record<Remembered | "failed", number>>> {
  const counts: Partial<Record<Remembered | "failed", number>> = {};
  if (!learns(deps)) return counts;
  const one = async ({ tenant, id: sessionId, sk }: DueRow): Promise<void> => {
    const outcome = await rememberTurn(deps, { tenant, sessionId, turn: lessonTurn(sk) }).catch((error: unknown) => {
      const name = error instanceof Error ? error.name : "Error";
      deps.log.error("long-term memory failed", { tenant, sessionId, error: name });
      return "failed" as const;
    });
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  };
  let cursor: string | undefined;
  do {
    const page = await deps.store.statuses.due(before, { limit: pageSize, ...(cursor ? { cursor } : {}) });
    const rows = page.rows.filter(({ sk }) => sk.startsWith(memoryPrefix));
    for (let from = 0; from < rows.length; from += atOnce) {
      if (!goOn()) return counts;
      await Promise.all(rows.slice(from, from + atOnce).map(one));
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return counts;
}
