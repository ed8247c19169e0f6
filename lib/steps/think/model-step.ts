// One visit of think for a model agent: build the context, ask the model, plan its calls.
import type { CallBlock } from "../../core/content.ts";
import type { ModelAgent } from "../../core/define-agent.ts";
import { ContextTooLarge } from "../../core/errors.ts";
import type { ModelReply, ModelRequest } from "../../ports/model.ts";
import { canonical, sha256 } from "../../store/encoding.ts";
import type { Head } from "../../store/log.ts";
import type { OpenState, Run } from "../run.ts";
import { toolContext } from "../tool-context.ts";
import { callModel } from "./call-model.ts";
import { planCalls } from "./plan-calls.ts";
import { readContext } from "./read-context.ts";

type OpenHead = Head & { state: OpenState };

export async function askModel(run: Run, head: OpenHead, agent: ModelAgent): Promise<Head> {
  const tools = agent.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const context = await readContext(run.deps, head, agent, tools);
  const fatal = context.problems.find((problem) => problem.kind !== "shortened");
  if (fatal) throw new ContextTooLarge(fatal.message);
  const request: ModelRequest = {
    model: agent.model.id,
    maxTokens: agent.model.maxTokens,
    system: context.system,
    tools,
    messages: context.messages,
  };
  return callModel(run, head, { request, plan: (calls, reply) => plan(run, head, agent, calls, reply) });
}

async function plan(run: Run, head: OpenHead, agent: ModelAgent, calls: CallBlock[], reply: ModelReply) {
  const { turn } = head.state;
  const round = turn.round + 1;
  const repetition = repeated(head, calls);
  const planned = await planCalls({
    calls,
    stop: reply.stop,
    tools: agent.tools,
    contextOf: (index, tool) =>
      toolContext(run.deps, head.state, { turn: turn.turn, round, index, tool }, run.deps.stopping),
    repeated: repetition?.count ?? 0,
    sameCall: agent.limits.sameCall,
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
