// Days of budgets and of the usage report: they begin at 00:00 UTC for everyone, so that one tenant has one day.

export const dayMs = 86_400_000;

/** Number of the UTC day that holds `at` (epoch milliseconds): days since 1970-01-01. */
export function utcDayNumber(at: number): number {
  return Math.floor(at / dayMs);
}

/**
 * `YYYY-MM-DD` of a day number; years 0 to 9999. Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"
 * (civil_from_days): eras of 400 years, and years that begin on 1 March.
 */
export function utcDay(dayNumber: number): string {
  const shifted = dayNumber + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

/** The day that a text names; null when it names none (`2026-02-30`). */
export function parseUtcDay(text: string): string | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!parts) return null;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const lengths = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day >= 1 && day <= (lengths[month - 1] ?? 0) ? text : null;
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}
