// Money is integer cents everywhere; this is the one place where it becomes text for people.

/** 985000 -> "EUR 9,850.00" */
export function formatCents(amountCents: number): string {
  const cents = Math.abs(amountCents) % 100;
  const whole = (Math.abs(amountCents) - cents) / 100;
  const sign = amountCents < 0 ? "-" : "";
  return `EUR ${sign}${whole.toLocaleString("en-US")}.${String(cents).padStart(2, "0")}`;
}
