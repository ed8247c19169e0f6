// What was used on a day: one small item a session and day, written at the end of a turn from the session's snapshot. It
// holds sums, not additions, so writing it again (after a crash, by the sweeper) changes nothing. It never decides.
import { type DayUsage, type SpentTuple, spentOf } from "../core/day-usage.ts";
import { isDisposition, UnreadableRecord } from "../core/errors.ts";
import type { SessionState } from "../core/state.ts";
import { dayMs, utcDay, utcDayNumber } from "../core/utc-day.ts";
import type { Clock } from "../ports/clock.ts";
import type { Item, Table } from "../ports/table.ts";
import { keepBudgetMs } from "./budgets.ts";
import { canonical } from "./encoding.ts";
import { currentFormat, upcast } from "./formats.ts";
import { usageKey, usagePk, usagePrefix } from "./keys.ts";

export type SessionDay = {
  sessionId: string;
  key: string;
  user: string;
  agent: string;
  models: Record<string, ReturnType<typeof spentOf>>;
};

export interface UsageDays {
  /** Writes the session's days as they stand at `version`; an older version changes nothing. */
  record(state: SessionState, version: number): Promise<void>;
  /** Takes the conversation's address and its user out of the rows of an erased session; what was spent stays counted. */
  anonymise(state: SessionState, until: number): Promise<void>;
  /** Every session that used something on `day` (YYYY-MM-DD), in order of its id. */
  day(tenant: string, day: string): Promise<SessionDay[]>;
}

const maxTries = 5;

export function createUsageDays(table: Table, clock: Clock): UsageDays {
  async function write(state: SessionState, version: number, entry: DayUsage): Promise<"done" | "again"> {
    const key = usageKey(state.tenant, utcDay(entry.day), state.sessionId);
    const models = canonical(entry.models);
    const ttl = Math.ceil((entry.day * dayMs + keepBudgetMs) / 1000);
    const found = await table.get(key);
    if (!found) {
      const { sessionId, key: sessionKey, user, agent } = state;
      const item = { ...key, format: currentFormat, version, sessionId, key: sessionKey, user, agent, models, ttl };
      return (await table.put(item, { absent: true })) === "ok" ? "done" : "again";
    }
    const { version: known } = upcast(found, `${key.pk}/${key.sk}`);
    if (typeof known !== "number") throw new UnreadableRecord(`${key.pk}/${key.sk}: no version`);
    if (known >= version || found.models === models) return "done";
    const after = await table.update(key, { set: { models, version } }, { version: known, format: currentFormat });
    return after === "refused" ? "again" : "done";
  }

  async function patiently(attempt: () => Promise<"done" | "again">): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        if ((await attempt()) === "done") return;
      } catch (error) {
        if (!isDisposition(error, "Transient") || tries >= maxTries) throw error;
      }
      await clock.sleep(10 * 2 ** Math.min(tries, maxTries));
    }
  }

  return {
    async record(state, version) {
      for (const entry of state.days ?? []) await patiently(() => write(state, version, entry));
    },
    async anonymise(state, until) {
      for (let day = utcDayNumber(state.createdAt); day <= utcDayNumber(until); day++) {
        await table.update(usageKey(state.tenant, utcDay(day), state.sessionId), { set: { key: "", user: "" } });
      }
    },
    async day(tenant, day) {
      const items = await table.query({ pk: usagePk(tenant, day), prefix: usagePrefix });
      return items.map(toSessionDay);
    },
  };
}

function toSessionDay(raw: Item): SessionDay {
  const where = `${raw.pk}/${raw.sk}`;
  const item = upcast(raw, where);
  if (typeof item.models !== "string") throw new UnreadableRecord(`${where}: no usage`);
  const models = JSON.parse(item.models) as Record<string, SpentTuple>;
  return {
    sessionId: String(item.sessionId),
    key: String(item.key),
    user: String(item.user),
    agent: String(item.agent),
    models: Object.fromEntries(Object.entries(models).map(([model, tuple]) => [model, spentOf(tuple)])),
  };
}
