// Money in words for people.

/** `4_970_000` micro-dollars -> `$4.97`; at least two decimals, six when they say something. Integer arithmetic only. */
export function dollars(micros: number): string {
  const whole = Math.abs(micros);
  const decimals = String(whole % 1_000_000)
    .padStart(6, "0")
    .replace(/0{1,4}$/, "");
  return `${micros < 0 ? "-" : ""}$${Math.floor(whole / 1_000_000)}.${decimals}`;
}

/** Whole micro-dollars of an amount as authors write it (`limits.usdPerSession`). */
export function microsOf(usd: number): number {
  return Math.round(usd * 1_000_000);
}
