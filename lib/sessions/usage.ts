// GET /v1/usage: what a tenant used on a day, by session and model. From finished turns: what an open turn has used so far
// shows when it ends.
import { addSpent, type Spent } from "../core/day-usage.ts";
import { InvalidInput } from "../core/errors.ts";
import { parseUtcDay, utcDay, utcDayNumber } from "../core/utc-day.ts";
import type { Deps } from "../steps/deps.ts";
import { type ShownUsage, shownUsage } from "./outside-units.ts";

export type DayReport = {
  /** YYYY-MM-DD, UTC. */
  day: string;
  total: ShownUsage;
  /** The most expensive first, at most 500. */
  sessions: ({ sessionId: string; key: string; user: string; agent: string } & ShownUsage)[];
  /** Sessions of that day that are not listed; they are in the total. */
  omittedSessions: number;
  models: ({ model: string } & ShownUsage)[];
};

const maxSessions = 500;
const noSpent: Spent = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, usdMicros: 0 };

/** `day` defaults to today (UTC). Throws `InvalidInput` for a text that is no day. */
export async function usageOfDay(
  deps: Pick<Deps, "store" | "clock">,
  tenant: string,
  day: string = utcDay(utcDayNumber(deps.clock.now())),
): Promise<DayReport> {
  if (parseUtcDay(day) === null) {
    throw new InvalidInput(`${JSON.stringify(day)} is no day; write YYYY-MM-DD`, {
      errors: [{ path: "day", message: "must be a day, YYYY-MM-DD" }],
    });
  }
  const rows = await deps.store.usageDays.day(tenant, day);
  const byModel = new Map<string, Spent>();
  const sessions = rows.map(({ models, ...session }) => {
    let spent = noSpent;
    for (const [model, used] of Object.entries(models)) {
      spent = addSpent(spent, used);
      byModel.set(model, addSpent(byModel.get(model) ?? noSpent, used));
    }
    return { session, spent };
  });
  const total = sessions.reduce((sum, { spent }) => addSpent(sum, spent), noSpent);
  sessions.sort((a, b) => compareSpent(a.spent, b.spent));
  return {
    day,
    total: shownUsage(total),
    sessions: sessions.slice(0, maxSessions).map(({ session, spent }) => ({ ...session, ...shownUsage(spent) })),
    omittedSessions: Math.max(0, sessions.length - maxSessions),
    models: [...byModel]
      .sort(([, a], [, b]) => compareSpent(a, b))
      .map(([model, spent]) => ({ model, ...shownUsage(spent) })),
  };
}

/** Most money first; where there is no price, most tokens. */
function compareSpent(a: Spent, b: Spent): number {
  return b.usdMicros - a.usdMicros || b.inputTokens + b.outputTokens - (a.inputTokens + a.outputTokens);
}
