// Times in mail and on the page. Fixed form and zone: the same bytes on every machine and attempt.

/** "2026-05-05 14:30 UTC" for epoch milliseconds. */
export function utcTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
