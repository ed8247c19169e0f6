// Days that begin at a local hour. Counted, not constructed: nights on which the clock is set never give a boundary
// twice or leave one out.

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Number of the local day that holds `at` (epoch ms) when days begin at `dailyAt` (0–23) in `timeZone` (IANA).
 * Larger is later. If the clock jumps over that hour, the day begins at the jump; if the hour comes twice, at the first.
 */
export function localDay(at: number, rule: { dailyAt: number; timeZone: string }): number {
  const parts = new Map(
    formatOf(rule.timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const day = dayNumber(part("year"), part("month"), part("day"));
  return part("hour") < rule.dailyAt ? day - 1 : day;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
  });
  formats.set(timeZone, format);
  return format;
}

/** Days since 1 March of year 0 in the Gregorian calendar. */
function dayNumber(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const m = month <= 2 ? month + 9 : month - 3;
  return (
    365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + Math.floor((153 * m + 2) / 5) + day - 1
  );
}
