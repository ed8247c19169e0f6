// Reading an export back: what is whole is taken, a torn tail is dropped and said, damage in the middle is said with
// its line, and lines of another session are refused (H08). Also the check of the hash chain.
import * as z from "zod";
import type { Event } from "../../core/event.ts";
import { chainHash } from "../../store/checkpoint-item.ts";
import { canonical } from "../../store/encoding.ts";
import type { CheckpointLine, HeaderLine } from "./export-lines.ts";

export type Reading = {
  header: HeaderLine;
  checkpoints: CheckpointLine[];
  /** True when the end line was there and agrees. */
  complete: boolean;
  /** What is wrong, with its line (from 1). Empty: the chain holds from the first event to the end line. */
  problems: { line: number; message: string }[];
};

const header = z.object({
  type: z.literal("baton.session"),
  format: z.literal(1, "of a newer release"),
  tenant: z.string(),
  sessionId: z.string(),
  key: z.string(),
  versions: z.int().min(1),
});
const checkpoint = z.object({
  type: z.literal("checkpoint"),
  sessionId: z.string(),
  version: z.int().min(1),
  at: z.int(),
  writer: z.string(),
  prevHash: z.string(),
  hash: z.string(),
  event: z.looseObject({ type: z.string() }),
});
const end = z.object({ type: z.literal("end"), sessionId: z.string(), versions: z.int(), hash: z.string() });

/** Null when the first line is no header: this is no export. Never throws. */
export function readLines(text: string): Reading | null {
  const lines = text.split("\n");
  // A whole file ends with a line feed, so the last piece is empty; else it is a torn line.
  const torn = lines.pop() ?? "";
  const first = header.safeParse(parse(lines[0] ?? ""));
  if (!first.success) return null;
  const reading: Reading = { header: first.data, checkpoints: [], complete: false, problems: [] };
  for (const [i, raw] of lines.entries()) {
    if (i === 0) continue;
    const problem = take(reading, parse(raw));
    if (problem) reading.problems.push({ line: i + 1, message: problem });
    if (problem && problem !== foreign) break;
  }
  const damaged = reading.problems.length > 0;
  if (torn !== "") reading.problems.push({ line: lines.length + 1, message: "the last line is torn; it was dropped" });
  if (!reading.complete && !damaged) {
    const { versions } = reading.header;
    reading.problems.push({
      line: lines.length + 1,
      message: `the file ends after version ${reading.checkpoints.length} of ${versions}`,
    });
  }
  return reading;
}

const foreign = "a line of another session was refused";

/** Why the record cannot be taken; null when it was. */
function take(reading: Reading, record: unknown): string | null {
  if (record === undefined) return "not a JSON line: the file is damaged here";
  const { sessionId } = reading.header;
  if (typeof record === "object" && record !== null && "sessionId" in record && record.sessionId !== sessionId)
    return foreign;
  const kind = typeof record === "object" && record !== null && "type" in record ? record.type : undefined;
  if (reading.complete) return "a line after the end";
  if (kind === "approval") return null;
  if (kind === "end") return takeEnd(reading, record);
  if (kind !== "checkpoint") return `unknown record ${JSON.stringify(kind)}`;
  const parsed = checkpoint.safeParse(record);
  if (!parsed.success) return `not a checkpoint: ${z.prettifyError(parsed.error).replaceAll("\n", " ")}`;
  const found = { ...parsed.data, event: parsed.data.event as unknown as Event };
  const before = reading.checkpoints.at(-1);
  const expected = (before?.version ?? 0) + 1;
  if (found.version !== expected) return `version ${found.version} where ${expected} was expected`;
  if (found.prevHash !== (before?.hash ?? ""))
    return `version ${found.version} does not follow the one before it: the chain is broken`;
  if (chainHash(found.prevHash, found.version, found.at, canonical(found.event)) !== found.hash) {
    return `version ${found.version} was changed: its hash does not match`;
  }
  reading.checkpoints.push(found);
  return null;
}

function takeEnd(reading: Reading, record: unknown): string | null {
  const parsed = end.safeParse(record);
  if (!parsed.success) return "the end line is damaged";
  const last = reading.checkpoints.at(-1);
  if (parsed.data.versions !== last?.version || parsed.data.hash !== last.hash)
    return "the end line names another last version";
  reading.complete = true;
  return null;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
