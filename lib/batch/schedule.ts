// When a task is due, by croner. Pure: the same from and until give the same slots on every scheduler.
//
// Nights on which the clock is set (test/batch/schedule.test.ts holds both, in two zones):
// - A fixed local time that is jumped over comes at the jump (02:30 in Berlin, 29 March 2026: at 03:00 summer time).
// - A fixed local time that comes twice is taken once, the first time.
// - With a list, a range, a step or * in minute or hour, local times are matched as they pass: those jumped over are left
//   out, those that come twice are taken twice. So `*/30 * * * *` is every half hour of real time, all year.
import { Cron } from "croner";
import { InvalidInput } from "../core/errors.ts";

export type Schedule = { cron: string; timeZone: string };

const nicknames = /^@(?:hourly|daily|weekly|monthly|yearly|annually)$/;

/**
 * Throws `InvalidInput`: the pattern has not five fields (minute hour day month weekday), the zone is unknown, or the time never
 * comes. `now`: epoch milliseconds.
 */
export function checkSchedule(schedule: Schedule, now: number): void {
  const wrong = (field: string, message: string) =>
    new InvalidInput(`schedule.${field}: ${message}`, { errors: [{ path: `$.schedule.${field}`, message }] });
  const { cron, timeZone } = schedule;
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch {
    throw wrong("timeZone", "unknown IANA time zone");
  }
  if (!nicknames.test(cron) && cron.trim().split(/\s+/).length !== 5)
    throw wrong("cron", "use five fields: minute hour day month weekday");
  let next: number | null;
  try {
    next = nextSlot(schedule, now);
  } catch (error) {
    throw wrong("cron", error instanceof Error ? error.message.replace(/^\w+: /, "") : "not a pattern");
  }
  if (next === null) throw wrong("cron", "this time never comes");
}

/** The first slot after `after` (epoch ms), exclusive; null when there is none. */
export function nextSlot(schedule: Schedule, after: number): number | null {
  const cron = new Cron(schedule.cron, { timezone: schedule.timeZone, paused: true, mode: "5-part" });
  return cron.nextRun(new Date(after))?.getTime() ?? null;
}

/** Slots from `first` (itself a slot) up to `until` inclusive, at most `limit`; and the first one after them. */
export function slotsUntil(
  schedule: Schedule,
  first: number,
  until: number,
  limit: number,
): { slots: number[]; next: number | null } {
  const slots: number[] = [];
  let next: number | null = first;
  while (next !== null && next <= until && slots.length < limit) {
    slots.push(next);
    next = nextSlot(schedule, next);
  }
  return { slots, next };
}
