// plan_features and complete_feature: the model proposes, the guards of core/project decide, and what they allow is one
// event. Both are harmless to repeat: a second visit after a crash finds the record as it would write it.

import * as z from "zod";
import type { LoggedEvent } from "../../core/context/logged-event.ts";
import { builtInNames, type ModelAgent } from "../../core/define-agent.ts";
import { defineTool, type Tool } from "../../core/define-tool.ts";
import type { HandoffRecord } from "../../core/handoff.ts";
import { completeFeature } from "../../core/project/complete-feature.ts";
import { type FeaturePlan, featurePlan, mayBecome, planFeatures } from "../../core/project/plan-features.ts";
import type { ProjectRules } from "../../core/project/project-options.ts";
import { turnCalls } from "../../core/project/turn-calls.ts";
import { canonical } from "../../store/encoding.ts";
import type { Head } from "../../store/log.ts";
import { currentHandoff } from "../handoff.ts";
import type { OpenState, Run } from "../run.ts";

type OpenHead = Head & { state: OpenState };

const completion = z.strictObject({
  id: z.string().min(1).max(64),
  callId: z.string().min(1).max(200).describe("Call id of the successful check, as its result shows it."),
});

const planDefinition = defineTool({
  name: "plan_features",
  description: [
    "Sets down the features of the project, each with the check that proves it. Features are built one a turn, in this order.",
    "The list only grows: call it again to add features; one that stands can never be changed or removed.",
    "It is taken as a whole or refused as a whole.",
  ].join(" "),
  input: featurePlan,
  effect: "read",
  run: () => ({}),
});

const completeDefinition = defineTool({
  name: "complete_feature",
  description: [
    "Marks the feature of this turn as passing. Only accepted with the call id of a successful call of the feature's own check, made in this turn after the last change.",
    "Call it alone, not together with other calls. After it the turn has nothing left to change: end it.",
  ].join(" "),
  input: completion,
  effect: "read",
  run: () => ({}),
});

/** The tools of the open turn's role, bound to one visit of a session. None outside of a project. */
export function projectTools(run: Run, head: Head, agent: ModelAgent): Tool[] {
  const role = head.state.turn?.project?.role;
  const rules = agent.project;
  if (!rules || role === undefined) return [];
  if (role === "worker") {
    return [{ ...completeDefinition, run: (input) => complete(run, rules, input as z.output<typeof completion>) }];
  }
  return [{ ...planDefinition, run: (input) => plan(run, agent, input as FeaturePlan) }];
}

async function plan(run: Run, agent: ModelAgent, given: FeaturePlan) {
  const checks = (agent.project?.checks ?? []).flatMap((name) => {
    const tool = agent.tools.find((candidate) => candidate.name === name);
    return tool ? [{ name, accepts: (input: unknown) => faultOf(tool, input) }] : [];
  });
  const record = await write(run, async (_head, before) => {
    const planned = planFeatures(before, given, checks);
    if ("refused" in planned) throw new Refused(planned.refused.join("; "));
    return planned.record;
  });
  const features = (record.features ?? []).map(({ id, passes }) => ({ id, passes }));
  return { planned: true, features };
}

async function complete(run: Run, rules: ProjectRules, given: z.output<typeof completion>) {
  const record = await write(run, async (head, before) => {
    const calls = turnCalls(await turnEvents(run, head)).filter(({ tool }) => !builtInNames.includes(tool));
    const completed = completeFeature(before, given, { feature: head.state.turn.project?.feature, calls, rules });
    if ("refused" in completed) throw new Refused(completed.refused);
    return completed.record;
  });
  const open = (record.features ?? []).filter(({ passes }) => !passes).map(({ id }) => id);
  return { completed: given.id, open, next: "this turn is done: end it with a short account" };
}

/** For the model: the call fails with this text. */
class Refused extends Error {
  override readonly name = "Refused";
}

/** Commits the record that `change` makes of the current one; anew when another was written meanwhile. */
async function write(
  run: Run,
  change: (head: OpenHead, before: HandoffRecord) => Promise<HandoffRecord>,
): Promise<HandoffRecord> {
  for (;;) {
    const head = await run.owned();
    const current = await currentHandoff(run.deps, head);
    const record = await change(head, current.record);
    if (!mayBecome(current.record.features ?? [], record.features ?? [])) throw new Refused("features never change");
    if (current.stored && canonical(record) === canonical(current.stored)) return record;
    let wrote = false;
    await run.commitOwned(({ state }) => {
      wrote = state.marks.handoff === head.state.marks.handoff;
      return wrote ? { type: "handoff.updated", record } : null;
    }, head);
    if (wrote) return record;
  }
}

/** The open turn's events in order, as the session sees its past. */
async function turnEvents(run: Run, head: OpenHead): Promise<LoggedEvent[]> {
  const newestFirst: LoggedEvent[] = [];
  for await (const { event, version } of run.deps.store.log.lineage(head.tenant, head.sessionId, head.version)) {
    newestFirst.push({ event, version });
    if (event.type === "turn.started") break;
  }
  return newestFirst.toReversed();
}

function faultOf(tool: Tool, input: unknown): string | null {
  const parsed = tool.input.safeParse(input);
  if (parsed.success) return null;
  return parsed.error.issues.map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`).join(", ");
}
