// The feature list may only grow: a feature once planned is never deleted, reworded or marked as passing here, so that
// the measure of the work cannot be bent to the work.
import * as z from "zod";
import type { HandoffRecord } from "../handoff.ts";
import type { Json, JsonObject } from "../json.ts";
import { sameJson } from "./same-json.ts";

export type Feature = NonNullable<HandoffRecord["features"]>[number];

const line = z.string().min(1).max(500);
export const featurePlan = z.strictObject({
  goal: z.string().min(1).max(4000).optional().describe("What the user wants, with every detail that matters."),
  features: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "use 1 to 64 of letters, digits, . _ and -"),
        category: z.string().min(1).max(100),
        description: z.string().min(1).max(2000).describe("What works when it is done, as a user sees it."),
        steps: z.array(line).min(1).max(20).describe("How a person would try it out."),
        check: z.string().min(1).max(64).describe("Name of the tool that proves it."),
        checkInput: z.record(z.string(), z.unknown()).optional().describe("Arguments of that tool. Default: none."),
        passes: z.literal(false).optional(),
      }),
    )
    .min(1)
    .max(100)
    .describe("In the order in which they are to be built."),
});
export type FeaturePlan = z.infer<typeof featurePlan>;

/** What the plan is held against: `accepts` says whether the arguments fit the tool, null when they do. */
export type CheckTool = { name: string; accepts: (input: JsonObject) => string | null };

/** All of it or nothing. The same plan again changes nothing. `refused`: every fault, for the model. */
export function planFeatures(
  record: HandoffRecord,
  plan: FeaturePlan,
  checks: readonly CheckTool[],
): { record: HandoffRecord } | { refused: string[] } {
  const features = [...(record.features ?? [])];
  const refused: string[] = [];
  for (const planned of plan.features) {
    const feature = toFeature(planned);
    const known = features.find(({ id }) => id === feature.id);
    if (known) {
      if (!sameWording(known, feature)) {
        refused.push(`${feature.id}: stands already and cannot be reworded; a new wish is a new feature`);
      }
      continue;
    }
    const fault = faultOf(feature, checks);
    if (fault) refused.push(`${feature.id}: ${fault}`);
    else features.push(feature);
  }
  const chars = JSON.stringify(features).length;
  if (chars > maxChars)
    refused.push(`the list has ${chars} characters of at most ${maxChars}; describe features shorter`);
  if (refused.length > 0) return { refused };
  return { record: { ...record, goal: record.goal || (plan.goal ?? ""), features } };
}

/** The list is shown whole on every resume, so it must be small beside any window. */
const maxChars = 40_000;

/** Is `after` a list that `before` may become? Every feature stays where it is, as it was worded, and none un-passes. */
export function mayBecome(before: readonly Feature[], after: readonly Feature[]): boolean {
  return before.every((feature, i) => {
    const now = after[i];
    return now !== undefined && sameWording(feature, now) && (now.passes || !feature.passes);
  });
}

/** The arguments that prove the feature. */
export function checkArguments(feature: Feature): JsonObject {
  return feature.checkInput === undefined ? {} : (JSON.parse(feature.checkInput) as JsonObject);
}

function toFeature({ id, category, description, steps, check, checkInput }: FeaturePlan["features"][number]): Feature {
  const given = checkInput && Object.keys(checkInput).length > 0 ? { checkInput: JSON.stringify(checkInput) } : {};
  return { id, category, description, steps, check, ...given, passes: false };
}

function sameWording(a: Feature, b: Feature): boolean {
  const words = ({ id, category, description, steps, check }: Feature): Json => [
    id,
    category,
    description,
    steps,
    check,
  ];
  return sameJson(words(a), words(b)) && sameJson(checkArguments(a), checkArguments(b));
}

function faultOf(feature: Feature, checks: readonly CheckTool[]): string | null {
  const tool = checks.find(({ name }) => name === feature.check);
  if (!tool) {
    const names = checks.map(({ name }) => name).join(", ");
    return `"${feature.check}" is no tool that proves features; use one of: ${names}`;
  }
  const wrong = tool.accepts(checkArguments(feature));
  return wrong === null ? null : `checkInput does not fit "${feature.check}": ${wrong}`;
}
