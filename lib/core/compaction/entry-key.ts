// One text for equal entries of a record, whatever order their keys have: what was read from the log has them sorted.

/** `entry`: a text, or an object of scalars. */
export function entryKey(entry: unknown): string {
  if (typeof entry !== "object" || entry === null) return JSON.stringify(entry);
  return JSON.stringify(entry, Object.keys(entry).sort());
}
