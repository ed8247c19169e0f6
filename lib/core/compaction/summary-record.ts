// What a compaction leaves behind: the narrative that a model wrote, and records that never went through one.
import * as z from "zod";
import { UnreadableRecord } from "../errors.ts";
import { handoffRecord } from "../handoff.ts";
import type { Json } from "../json.ts";

/** Carried over word for word from handoff record, journal and earlier summaries. */
export const carriedRecords = handoffRecord.pick({
  constraints: true,
  decisions: true,
  sideEffects: true,
  resources: true,
});
export type CarriedRecords = z.infer<typeof carriedRecords>;

export const summaryRecord = z.strictObject({
  format: z.literal(1),
  /** Written by the summariser: goal, state, open questions, next step. */
  narrative: z.string().min(1),
  carried: carriedRecords,
  /** The newest user message among what was replaced, verbatim. */
  latestUser: z.string(),
  /** Turns that were replaced, first and last; 0 when unknown. */
  turns: z.strictObject({ from: z.int().nonnegative(), to: z.int().nonnegative() }),
});
export type SummaryRecord = z.infer<typeof summaryRecord>;

/** The record of a `compaction.done` event. Throws `UnreadableRecord` naming the place when it is none. */
export function readSummary(summary: Json): SummaryRecord {
  const read = summaryRecord.safeParse(summary);
  if (read.success) return read.data;
  const fault = read.error.issues[0];
  throw new UnreadableRecord(`summary: ${fault?.path.join(".") ?? ""}: ${fault?.message ?? "unreadable"}`);
}
