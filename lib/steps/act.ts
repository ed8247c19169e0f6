// act: runs one call of the open reply, once. The intent is in the log before a tool with an effect runs,
// the outcome after it; whoever comes a second time finds one or the other. What people must decide first (a
// gated call, or whether an interrupted one happened) is put to them here; the machine then goes to Ask.
import { cancel } from "../core/approval/decide.ts";
import type { CallBlock } from "../core/content.ts";
import { note } from "../core/context/fence.ts";
import type { Tool } from "../core/define-tool.ts";
import { ApprovalNeeded, UnreadableRecord } from "../core/errors.ts";
import type { CallOutcome, Event } from "../core/event.ts";
import { leaseMarginMs } from "../core/limits.ts";
import type { CallState } from "../core/state.ts";
import { canonical, sha256 } from "../store/encoding.ts";
import type { Head } from "../store/log.ts";
import { callResult } from "./act/call-result.ts";
import { approvalNote } from "./act/decided-outcome.ts";
import { type CallPlan, planCall, ruleNow } from "./act/plan-call.ts";
import { requestApproval } from "./act/request-approval.ts";
import { runTool } from "./act/run-tool.ts";
import { toolsOf } from "./built-in/built-in-tools.ts";
import { agentOf, type Deps } from "./deps.ts";
import type { StepInput } from "./io.ts";
import { isFenced, type OpenState, type Run, startRun } from "./run.ts";
import { toolContext } from "./tool-context.ts";

type OpenHead = Head & { state: OpenState };

/** Answers nothing: the machine goes to Think, which decides from the log. */
export async function act(deps: Deps, input: StepInput): Promise<Record<string, never>> {
  try {
    await actOnCall(startRun(deps, input, "act"), input.index ?? 0);
  } catch (error) {
    // A zombie stops here, before any further effect; the new owner has the call.
    if (!isFenced(error)) throw error;
  }
  return {};
}

async function actOnCall(run: Run, index: number): Promise<void> {
  const { deps } = run;
  const head = await run.owned();
  const call = openCall(head, index);
  if (!call) return;
  // The turn ends now: nothing starts any more, and a call that was never approved is not left open.
  if (head.state.turn.stop) return call.approval === "cancelled" ? finishCancelled(run, head, call) : undefined;
  if (call.status === "asking") throw new ApprovalNeeded(`call ${index} waits for a decision`);
  const block = await frozenCall(run, head, index);
  const tools = toolsOf(run, head, agentOf(deps, head.state.agent));
  const tool = tools.find((candidate) => candidate.name === call.tool);
  if (!tool) return finishCall(run, head, call, { outcome: toolGone(call) });
  const plan = await planCall(deps, { head, call, tool, block });
  if (plan.next === "finish") {
    return finishCall(run, head, call, { outcome: plan.outcome, note: noteOf(plan, block) });
  }
  if (plan.next === "ask") return askPeople(run, { head, call, tool }, plan);

  const attempt = call.attempts + 1;
  const frozen = { ...block, input: plan.input };
  const unjournalled = tool.effect === "read" && !plan.approval;
  const started = unjournalled ? head : await startCall(run, head, tool, frozen, index, attempt, plan.approval?.id);
  if (!started) return actOnCall(run, index);
  const { outcome, tookMs } = await runTool(deps, started, tool, frozen, index);
  const ran = { ...call, attempts: attempt };
  if (outcome.status !== "in_doubt") {
    return finishCall(run, started, ran, { outcome, tookMs, note: noteOf(plan, block) });
  }
  const rule = await ruleNow(deps, { head: started, call, tool }, plan.input);
  const doubt = { kind: "in_doubt" as const, input: plan.input, rule: rule === "failed" ? null : rule };
  const now = openCall(started, index) ?? ran;
  return askPeople(run, { head: started, call: now, tool }, { next: "ask", ...doubt, reason: outcome.error.message });
}

/** Puts the call to people and sends the machine to Ask. */
async function askPeople(
  run: Run,
  at: { head: OpenHead; call: CallState; tool: Tool },
  plan: CallPlan & { next: "ask" },
): Promise<void> {
  if ((await requestApproval(run, at, plan)) === "impossible") {
    return finishCall(run, at.head, at.call, { outcome: nobodyMay });
  }
  throw new ApprovalNeeded(`call ${at.call.index} is put to people`);
}

function noteOf(plan: CallPlan & { next: "run" | "finish" }, block: CallBlock): string | null {
  return plan.approval ? approvalNote(plan.approval, block.input) : null;
}

/** Commits the intent; null when somebody else has moved the call meanwhile. */
async function startCall(
  run: Run,
  head: OpenHead,
  tool: Tool,
  block: CallBlock,
  index: number,
  attempt: number,
  approvalId?: string,
): Promise<OpenHead | null> {
  const { deps } = run;
  const { turn, round } = head.state.turn;
  const ctx = toolContext(deps, head.state, { turn, round, index, tool: tool.name }, deps.stopping);
  const event: Event = {
    type: "call.started",
    round,
    index,
    tool: tool.name,
    input: block.input,
    inputHash: sha256(canonical(block.input)),
    idempotencyKey: ctx.idempotencyKey,
    effect: tool.effect,
    attempt,
    leaseUntil: deps.clock.now() + tool.timeoutMs + leaseMarginMs,
    ...(approvalId === undefined ? {} : { approvalId }),
  };
  const before = openCall(head, index);
  let wrote = false;
  const after = await run.commitOwned((current) => {
    const call = openCall(current, index);
    wrote =
      call !== null &&
      call.attempts === before?.attempts &&
      call.status === before.status &&
      call.approvalId === before.approvalId &&
      !current.state.turn.stop;
    return wrote ? event : null;
  }, head);
  return wrote ? (after as OpenHead) : null;
}

async function finishCall(
  run: Run,
  head: OpenHead,
  call: CallState,
  end: { outcome: CallOutcome; tookMs?: number; note?: string | null },
): Promise<void> {
  const { round } = head.state.turn;
  const event: Event = {
    type: "call.finished",
    round,
    index: call.index,
    callId: call.id,
    tool: call.tool,
    effect: call.effect,
    outcome: end.outcome,
    result: callResult(call.id, end.outcome, proofNote(run, head, call) ?? end.note),
    ...(end.tookMs === undefined ? {} : { tookMs: end.tookMs }),
  };
  let asked: string | undefined;
  await run.commitOwned((current) => {
    const open = openCall(current, call.index);
    asked = open?.status === "asking" ? open.approvalId : undefined;
    return open && open.attempts <= call.attempts ? event : null;
  }, head);
  if (asked) await withdraw(run, asked);
}

/** A feature is completed by naming the call that proves it, and models do not see the ids of their calls. */
function proofNote(run: Run, { state }: OpenHead, call: CallState): string | null {
  const agent = agentOf(run.deps, state.agent);
  const proves = state.turn.project && agent.kind === "agent" && agent.project?.checks.includes(call.tool);
  return proves ? note(`call id: ${call.id}`) : null;
}

/** The tool answered after all, when people had been asked whether it happened. The sweeper ends the wait. */
async function withdraw(run: Run, approvalId: string): Promise<void> {
  const { approvals } = run.deps.store;
  for (;;) {
    const stored = await approvals.get(run.input.tenant, approvalId);
    if (!stored) return;
    const { kind, approval } = cancel(stored.approval, "the outcome of the call is known now", run.deps.clock.now());
    if (kind !== "settled" || (await approvals.save(stored, { approval })) !== "refused") return;
  }
}

function finishCancelled(run: Run, head: OpenHead, call: CallState): Promise<void> {
  const message = `"${call.tool}" was not run: the turn was stopped before it was approved`;
  const error = { name: "Cancelled", code: "approval.cancelled", message };
  return finishCall(run, head, call, { outcome: { status: call.doubt ? "in_doubt" : "cancelled", error } });
}

function openCall(head: OpenHead, index: number): CallState | null {
  const call = head.state.turn.calls.find((candidate) => candidate.index === index);
  return call && call.status !== "finished" ? call : null;
}

/** The arguments as the model gave them, frozen in the reply's event. */
async function frozenCall(run: Run, head: OpenHead, index: number): Promise<CallBlock> {
  const version = head.state.turn.replyVersion;
  const reply = await run.deps.store.log.at(head.tenant, head.sessionId, version);
  const content = reply && "content" in reply.event ? reply.event.content : [];
  const block = content.filter((candidate) => candidate.type === "call")[index];
  if (!block) throw new UnreadableRecord(`version ${version} of session ${head.sessionId} holds no call ${index}`);
  return block;
}

/** What had been started by a tool that is gone may have happened. */
function toolGone(call: CallState): CallOutcome {
  const message = `tool "${call.tool}" is not there any more`;
  if (call.attempts === 0 || call.effect === "read") {
    return { status: "failed", error: { name: "ToolGone", code: "tool.gone", message } };
  }
  const doubt = `${message}; a run of it had been started and may have taken effect`;
  return { status: "in_doubt", error: { name: "OutcomeUnknown", code: "call.in_doubt", message: doubt } };
}

const nobodyMay: CallOutcome = {
  status: "denied",
  error: {
    name: "NobodyMayApprove",
    code: "approval.impossible",
    message: "it was not run: it needs approval, and too few people other than its requester may give it",
  },
};
