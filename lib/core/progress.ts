// What a model may write into the handoff record, and how it is merged. Side effects and resources are not among it:
// they come from the call journal. Constraints only grow, unless the user lifts one in so many words.
import * as z from "zod";
import type { HandoffRecord } from "./handoff.ts";

const text = z.string().min(1).max(4000);

export const progressUpdate = z.strictObject({
  goal: z.string().min(1).max(4000).optional().describe("The task, with every detail that matters."),
  done: z.array(text).optional().describe("What is finished and verified now. Added to the list."),
  inProgress: z
    .strictObject({ item: text, note: z.string().max(4000).default("") })
    .nullable()
    .optional()
    .describe("What is half done, and how far. null: nothing is."),
  next: z.string().max(4000).optional().describe('The one thing to do next. "": nothing is left.'),
  decisions: z
    .array(z.strictObject({ what: text, why: z.string().max(4000).default("") }))
    .optional()
    .describe("Decisions and dead ends, each with its reason. Added to the list."),
  constraints: z
    .array(text)
    .optional()
    .describe("Rules that the user has set for the rest of the session, in the user's own words. Added to the list."),
  liftConstraints: z
    .array(z.strictObject({ constraint: text, userSaid: z.string().min(1).max(4000) }))
    .optional()
    .describe("Constraints that the user has taken back in this turn; `userSaid` is the user's sentence, verbatim."),
  blocked: z.array(text).optional().describe("What cannot go on, and who or what it waits for. Replaces the list."),
});
export type ProgressUpdate = z.infer<typeof progressUpdate>;

/** Characters of a quote that can be told from a chance hit. */
const shortestQuote = 4;

/** What was not taken over, and why: for the model. */
export type ProgressRefusal = { constraint: string; why: string };

/**
 * The record with the update merged; the same update a second time changes nothing. `userText`: what the user has
 * written in the open turn, by which a lifting is checked.
 */
export function applyProgress(
  record: HandoffRecord,
  update: ProgressUpdate,
  at: { turn: number; userText: string },
): { record: HandoffRecord; refused: ProgressRefusal[] } {
  const known = new Set(record.decisions.map(({ what, why }) => JSON.stringify([what, why])));
  const decisions = (update.decisions ?? []).filter(({ what, why }) => !known.has(JSON.stringify([what, why])));
  const { lifted, refused } = liftings(record, update, at.userText);
  return {
    record: {
      ...record,
      goal: update.goal ?? record.goal,
      done: union(record.done, update.done),
      inProgress: update.inProgress === undefined ? record.inProgress : update.inProgress,
      next: update.next ?? record.next,
      decisions: [...record.decisions, ...decisions.map((decision) => ({ ...decision, atTurn: at.turn }))],
      constraints: union(record.constraints, update.constraints).filter((text) => !lifted.includes(text)),
      blocked: update.blocked ?? record.blocked,
    },
    refused,
  };
}

function liftings(record: HandoffRecord, update: ProgressUpdate, userText: string) {
  const said = plain(userText);
  const lifted: string[] = [];
  const refused: ProgressRefusal[] = [];
  for (const { constraint, userSaid } of update.liftConstraints ?? []) {
    // Lifted already by an earlier visit of the same call, or never there.
    if (!record.constraints.includes(constraint)) continue;
    if (plain(userSaid).length >= shortestQuote && said.includes(plain(userSaid))) lifted.push(constraint);
    else refused.push({ constraint, why: "the user has not said that in this turn; the constraint stands" });
  }
  return { lifted, refused };
}

function union(list: readonly string[], more: readonly string[] = []): string[] {
  return [...new Set([...list, ...more])];
}

function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
