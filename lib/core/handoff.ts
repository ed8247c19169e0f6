// The handoff record: what the next shift must know. `sideEffects` and `resources` are written by the
// runtime from the call journal, never by the model; `constraints` only grow.
import * as z from "zod";

const text = z.string().min(1).max(4000);

export const handoffRecord = z.strictObject({
  goal: z.string().max(4000),
  done: z.array(text),
  inProgress: z.strictObject({ item: text, note: z.string().max(4000) }).nullable(),
  next: z.string().max(4000),
  decisions: z.array(z.strictObject({ what: text, why: z.string().max(4000), atTurn: z.int().nonnegative() })),
  sideEffects: z.array(
    z.strictObject({
      action: text,
      target: z.string().max(4000),
      atTurn: z.int().nonnegative(),
      status: z.enum(["done", "failed", "in_doubt"]),
    }),
  ),
  resources: z.array(z.string().max(4000)),
  constraints: z.array(text),
  blocked: z.array(text),
  features: z
    .array(
      z.strictObject({
        id: text,
        category: text,
        description: text,
        steps: z.array(text),
        check: text,
        /** JSON text of the check's arguments; absent: none. */
        checkInput: text.optional(),
        passes: z.boolean(),
        provenBy: z.string().optional(),
      }),
    )
    .optional(),
});

export type HandoffRecord = z.infer<typeof handoffRecord>;

export const emptyHandoff: HandoffRecord = {
  goal: "",
  done: [],
  inProgress: null,
  next: "",
  decisions: [],
  sideEffects: [],
  resources: [],
  constraints: [],
  blocked: [],
};
