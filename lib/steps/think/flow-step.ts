// One step of a flow: fold the outcome of the step that just ran, skip, reduce, ask the model, or plan a
// tool call. Every committed step stays committed; a reducer whose result was not stored runs again.
import * as z from "zod";
import { textOf } from "../../core/content.ts";
import type { Flow, FlowStep } from "../../core/define-flow.ts";
import { AgentChanged, BatonError, isDisposition, toErrorRecord } from "../../core/errors.ts";
import type { Event } from "../../core/event.ts";
import { type Json, type JsonObject, toJson } from "../../core/json.ts";
import type { Head } from "../../store/log.ts";
import { isFenced, type OpenState, type Run } from "../run.ts";
import { toolContext } from "../tool-context.ts";
import { callModel } from "./call-model.ts";
import { approvalRule } from "./plan-calls.ts";

type OpenHead = Head & { state: OpenState };

export async function advanceFlow(run: Run, head: OpenHead, flow: Flow): Promise<Head> {
  try {
    return await takeStep(run, head, flow);
  } catch (error) {
    if (
      run.deps.stopping.aborted ||
      isFenced(error) ||
      isDisposition(error, "Transient") ||
      error instanceof BatonError
    )
      throw error;
    // The author's code failed: there is no model to decide what to do about it, so the turn ends and says why.
    const name = flow.steps[head.state.turn.flow?.index ?? 0]?.name ?? "?";
    const { message } = toErrorRecord(error);
    return commitOn(run, head, {
      type: "step.failed",
      name,
      error: { name: "FlowStepFailed", code: "flow.step_failed", message: `step "${name}": ${message}` },
    });
  }
}

async function takeStep(run: Run, head: OpenHead, flow: Flow): Promise<Head> {
  const { index, stateVersion } = head.state.turn.flow ?? { index: 0, stateVersion: 0 };
  const current = flow.steps[index];
  if (!current)
    throw new AgentChanged(`flow "${flow.name}" has ${flow.steps.length} steps; the turn stands at step ${index + 1}`);
  const state = stateVersion > 0 ? await storedState(run, head, flow, stateVersion) : await firstState(run, head, flow);
  const pending = await outcomeOf(run, head, current);
  if (pending) return advance(run, head, flow, index, pending.into(state));
  if (current.when && !current.when(state as never)) return advance(run, head, flow, index, state, true);
  switch (current.kind) {
    case "reduce": {
      const ctx = toolContext(run.deps, head.state, placeOf(head, index, current.name), run.deps.stopping);
      return advance(run, head, flow, index, await current.run(state as never, ctx));
    }
    case "prompt": {
      const messages = [
        { role: "user" as const, content: [{ type: "text" as const, text: current.prompt(state as never) }] },
      ];
      const request = {
        model: flow.model.id,
        maxTokens: flow.model.maxTokens,
        system: [{ text: flow.instructions }],
        tools: [],
        messages,
      };
      return callModel(run, head, { request, plan: async () => ({ calls: [] }) });
    }
    case "tool":
      return planTool(run, head, current, index, state);
  }
}

/** The step's result when it has run already: the model's text, or the tool's outcome. */
async function outcomeOf(
  run: Run,
  head: OpenHead,
  current: FlowStep,
): Promise<{ into: (state: Json) => unknown } | null> {
  const { turn } = head.state;
  const since = Math.max(turn.flow?.stateVersion ?? 0, turn.startedVersion);
  if (turn.replyVersion <= since) return null;
  const { log } = run.deps.store;
  const reply = await log.at(head.tenant, head.sessionId, turn.replyVersion);
  if (current.kind === "prompt" && reply?.event.type === "model.replied") {
    const text = textOf(reply.event.content);
    if (reply.event.stop !== "end_turn" && reply.event.stop !== "stop_sequence") return null;
    return { into: (state) => current.into(state as never, text) };
  }
  if (current.kind !== "tool" || reply?.event.type !== "flow.planned") return null;
  for await (const { event, version } of log.lineage(head.tenant, head.sessionId, head.version)) {
    if (version <= turn.replyVersion) break;
    if (event.type !== "call.finished") continue;
    const { outcome } = event;
    if (outcome.status === "success") return { into: (state) => current.into(state as never, outcome.output) };
    throw new Error(outcome.error.message);
  }
  return null;
}

async function planTool(
  run: Run,
  head: OpenHead,
  current: FlowStep & { kind: "tool" },
  index: number,
  state: Json,
): Promise<Head> {
  const { tool } = current;
  const input = toJson(current.input(state as never), `input of step "${current.name}"`) as JsonObject;
  tool.input.parse(input);
  const ctx = toolContext(run.deps, head.state, placeOf(head, index, tool.name), run.deps.stopping);
  const gated = (await approvalRule(tool, input, ctx)) !== null;
  const id = `flow_${head.state.turn.turn}_${index}`;
  const event: Event = {
    type: "flow.planned",
    round: index + 1,
    index,
    name: current.name,
    content: [{ type: "call", id, name: tool.name, input }],
    calls: [{ index: 0, id, tool: tool.name, effect: tool.effect, gated }],
  };
  return commitOn(run, head, event);
}

function advance(run: Run, head: OpenHead, flow: Flow, index: number, next: unknown, skipped = false): Promise<Head> {
  const current = flow.steps[index];
  const checked = flow.state.safeParse(next);
  if (!checked.success) {
    throw new Error(`its state does not fit the flow's schema: ${z.prettifyError(checked.error)}`);
  }
  return commitOn(run, head, {
    type: "flow.advanced",
    index,
    name: current?.name ?? "?",
    state: toJson(checked.data, `state after step "${current?.name}"`),
    ...(skipped ? { skipped: true } : {}),
    ...(index + 1 >= flow.steps.length ? { last: true } : {}),
  });
}

/** Appends `event` if the flow still stands where it was computed. */
function commitOn(run: Run, head: OpenHead, event: Event): Promise<Head> {
  return run.commitOwned(({ state: { turn } }) => {
    const { turn: before } = head.state;
    const moved =
      turn.turn !== before.turn || turn.flow?.index !== before.flow?.index || turn.replyVersion !== before.replyVersion;
    return moved || turn.stop ? null : event;
  }, head);
}

/** The state after the last committed step; `AgentChanged` when the flow's steps are not those it was made by. */
async function storedState(run: Run, head: OpenHead, flow: Flow, version: number): Promise<Json> {
  const found = await run.deps.store.log.at(head.tenant, head.sessionId, version);
  if (found?.event.type !== "flow.advanced") throw new AgentChanged(`version ${version} holds no state of a flow`);
  const { name, index, state } = found.event;
  const now = flow.steps[index]?.name;
  if (now !== name) {
    throw new AgentChanged(
      `step ${index + 1} of flow "${flow.name}" was "${name}" when it ran and is "${now ?? "gone"}" now`,
    );
  }
  return state;
}

async function firstState(run: Run, head: OpenHead, flow: Flow): Promise<Json> {
  const started = await run.deps.store.log.at(head.tenant, head.sessionId, head.state.turn.startedVersion);
  const content =
    started?.event.type === "turn.started" ? started.event.messages.flatMap((message) => message.content) : [];
  return flow.state.parse(flow.initial(textOf(content), content));
}

function placeOf(head: OpenHead, index: number, tool: string) {
  return { turn: head.state.turn.turn, round: index + 1, index: 0, tool };
}
