// One visit of think for a model agent: build the context, ask the model, plan its calls.
import type { CallBlock } from "../../core/content.ts";
import type { ModelAgent } from "../../core/define-agent.ts";
import type { Tool } from "../../core/define-tool.ts";
import { ContextTooLarge, InvalidDefinition, toErrorRecord } from "../../core/errors.ts";
import { originsOf } from "../../core/origins.ts";
import { closedAfter } from "../../core/project.ts";
import type { ModelReply, ModelRequest } from "../../ports/model.ts";
import { canonical, sha256 } from "../../store/encoding.ts";
import type { Head } from "../../store/log.ts";
import { toolsOf } from "../built-in/built-in-tools.ts";
import type { OpenState, Run } from "../run.ts";
import { toolContext } from "../tool-context.ts";
import { callModel } from "./call-model.ts";
import { compactionNeed } from "./compaction-need.ts";
import { planCalls } from "./plan-calls.ts";
import { type ReadContext, readContext } from "./read-context.ts";

type OpenHead = Head & { state: OpenState };

/** The head after the reply; "compact" when the history must be summarised first: nothing is written then. */
export async function askModel(run: Run, head: OpenHead, agent: ModelAgent): Promise<Head | "compact"> {
  const { deps } = run;
  const all = toolsOf(run, head, agent);
  const specs = all.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const context = await readContext(deps, head, agent, specs);
  const need = compactionNeed(head, agent, context, deps.clock.now());
  if (need.compact) return "compact";
  if (need.why === "fixed_too_large") {
    const { fixedTokens } = context;
    deps.log.warn("instructions and tools alone are over the compaction threshold", { agent: agent.name, fixedTokens });
  }
  const fatal = context.problems.find((problem) => problem.kind !== "shortened");
  if (fatal) return endTurn(run, head, tooLarge(agent, fatal));
  if (context.unrecorded && context.unrecorded.events > maxUnrecorded) return record(run, head, context.unrecorded);
  const request: ModelRequest = {
    model: agent.model.id,
    maxTokens: agent.model.maxTokens,
    system: context.system,
    tools: context.tools,
    messages: context.messages,
  };
  const tools = all.filter(({ name }) => context.tools.some((tool) => tool.name === name));
  return callModel(run, head, {
    request,
    plan: (calls, reply) => plan(run, head, { agent, tools, sources: context.sources }, calls, reply),
  });
}

/** So many events may stand between the handoff record and what is shown before the record is brought up to date. */
const maxUnrecorded = 200;

/** Keeps what must be read for each call from growing; the next visit of think asks the model. */
function record(run: Run, head: OpenHead, { record }: NonNullable<ReadContext["unrecorded"]>): Promise<Head> {
  return run.commitOwned(({ state }) => {
    const same = state.marks.handoff === head.state.marks.handoff && !state.turn.stop;
    return same ? { type: "handoff.updated", record } : null;
  }, head);
}

function tooLarge(agent: ModelAgent, problem: ReadContext["problems"][number]) {
  if (problem.kind === "fixed_too_large") return new InvalidDefinition(`agent "${agent.name}": ${problem.message}`);
  const hint = agent.context === "full-replay" ? '; "full-replay" drops nothing: choose "auto" or "compaction"' : "";
  return new ContextTooLarge(`${problem.message}${hint}`);
}

/** Stored, not thrown: only names cross the state machine, and the user is to read what is wrong. */
function endTurn(run: Run, head: OpenHead, error: Error): Promise<Head> {
  const { turn } = head.state;
  run.deps.log.warn("no context fits", { sessionId: head.sessionId, error: error.name });
  return run.commitOwned(({ state }) => {
    const same = state.turn.turn === turn.turn && state.turn.replyVersion === turn.replyVersion;
    return same ? { type: "model.failed", round: turn.round + 1, error: toErrorRecord(error), attempt: 1 } : null;
  }, head);
}

type Planning = { agent: ModelAgent; tools: readonly Tool[]; sources: ReadContext["sources"] };

async function plan(run: Run, head: OpenHead, planning: Planning, calls: CallBlock[], reply: ModelReply) {
  const { turn } = head.state;
  const { agent, tools, sources } = planning;
  const round = turn.round + 1;
  const repetition = repeated(head, calls);
  const planned = await planCalls({
    calls,
    stop: reply.stop,
    tools,
    contextOf: (index, tool) =>
      toolContext(run.deps, head.state, { turn: turn.turn, round, index, tool }, run.deps.stopping),
    repeated: repetition?.count ?? 0,
    sameCall: agent.limits.sameCall,
    closed: (tool) => closedAfter(turn.project, tool),
    ...(agent.beforeCall ? { policy: { beforeCall: agent.beforeCall, origins: originsOf(sources) } } : {}),
  });
  return { calls: planned, ...(repetition ? { repetition } : {}) };
}

/** How often in a row the model asked for exactly this (one or more calls, same tools, same canonical input). */
function repeated(head: OpenHead, calls: CallBlock[]): { hash: string; count: number } | undefined {
  if (calls.length === 0) return undefined;
  const hash = sha256(canonical(calls.map(({ name, input }) => ({ name, input }))));
  const before = head.state.turn.repetition;
  return { hash, count: before?.hash === hash ? before.count + 1 : 1 };
}
