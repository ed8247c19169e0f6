// The only way to `passes: true`. A model's word is not enough: the log must hold a successful call of the check that
// the feature names, with its arguments, made after the last change and, where the agent has one, before the commit.
import type { HandoffRecord } from "../handoff.ts";
import { checkArguments, type Feature } from "./plan-features.ts";
import type { ProjectRules } from "./project-options.ts";
import { sameJson } from "./same-json.ts";
import type { TurnCall } from "./turn-calls.ts";

export type Completion = { id: string; callId: string };

export type Evidence = {
  /** The feature of this turn: one turn completes one. */
  feature: string | undefined;
  /** Calls of this turn, built-in tools left out. */
  calls: readonly TurnCall[];
  rules: ProjectRules;
};

/** The same completion again answers the same record. `refused`: why not, and what to do, for the model. */
export function completeFeature(
  record: HandoffRecord,
  { id, callId }: Completion,
  evidence: Evidence,
): { record: HandoffRecord } | { refused: string } {
  const feature = record.features?.find((candidate) => candidate.id === id);
  if (!feature) return { refused: `there is no feature "${id}"` };
  if (id !== evidence.feature) {
    return { refused: `this turn is for feature "${evidence.feature ?? "none"}" only; one turn completes one feature` };
  }
  if (feature.passes) {
    return feature.provenBy === callId ? { record } : { refused: `feature "${id}" passes already; end the turn` };
  }
  const refused = faultOf(feature, callId, evidence);
  return refused === null ? { record: proven(record, id, callId) } : { refused };
}

function faultOf(feature: Feature, callId: string, { calls, rules }: Evidence): string | null {
  const wanted = checkArguments(feature);
  const how = `call "${feature.check}" with ${JSON.stringify(wanted)}`;
  const call = calls.findLast((candidate) => candidate.callId === callId);
  if (!call) return `this turn has no call "${callId}"; ${how} and name the call id that its result shows`;
  if (call.tool !== feature.check) return `call "${callId}" is one of "${call.tool}"; ${how}`;
  if (!sameJson(call.input, wanted)) return `call "${callId}" had other arguments; ${how}`;
  if (call.state !== "success") return `call "${callId}" was not successful; mend the feature and check it again`;
  const change = calls.find((candidate) => isChange(candidate, rules) && candidate.round >= call.round);
  if (change) return `"${change.tool}" was called after the check, or together with it or with this; check again`;
  const { commit } = rules;
  if (commit === undefined) return null;
  const committed = calls.some(
    ({ tool, state, round }) => tool === commit && state === "success" && round > call.round,
  );
  return committed ? null : `the checked work is not recorded; call "${commit}", then complete the feature`;
}

/** May it have changed the work? The tool that records it does not. */
function isChange({ effect, tool, state }: TurnCall, rules: ProjectRules): boolean {
  return effect !== "read" && tool !== rules.commit && state !== "none";
}

function proven(record: HandoffRecord, id: string, callId: string): HandoffRecord {
  const features = (record.features ?? []).map((feature) =>
    feature.id === id ? { ...feature, passes: true, provenBy: callId } : feature,
  );
  const description = features.find((feature) => feature.id === id)?.description ?? "";
  const done = [...new Set([...record.done, `${id}: ${description}`])];
  return { ...record, features, done, inProgress: null, blocked: [] };
}
