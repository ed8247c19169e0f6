// act: runs one call of the open reply, once. The intent is in the log before a tool with an effect runs,
// the outcome after it; whoever comes a second time finds one or the other.
import type { CallBlock } from "../core/content.ts";
import type { Tool } from "../core/define-tool.ts";
import { ApprovalNeeded, CallInProgress, UnreadableRecord } from "../core/errors.ts";
import type { CallOutcome, Event } from "../core/event.ts";
import { leaseMarginMs } from "../core/limits.ts";
import type { CallState } from "../core/state.ts";
import { canonical, sha256 } from "../store/encoding.ts";
import type { Head } from "../store/log.ts";
import { callResult } from "./act/call-result.ts";
import { runTool } from "./act/run-tool.ts";
import { verifyCall } from "./act/verify-call.ts";
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
  const block = await frozenCall(run, head, index);
  const tool = agentOf(deps, head.state.agent).tools.find((candidate) => candidate.name === call.tool);
  if (!tool) {
    const message = `tool "${call.tool}" is not there any more`;
    return finishCall(run, head, block, call, {
      status: "failed",
      error: { name: "ToolGone", code: "tool.gone", message },
    });
  }
  const denied = denial(call);
  if (denied) return finishCall(run, head, block, call, denied);
  if (call.gated && call.approval !== "approved") throw new ApprovalNeeded(`call ${index} waits for a decision`);

  if (call.status === "started") {
    if ((call.leaseUntil ?? 0) > deps.clock.now()) throw new CallInProgress(`call ${index} is running elsewhere`);
    if (call.effect === "once") {
      const verdict = await verifyCall(deps, head, tool, block, index);
      if (verdict) return finishCall(run, head, block, call, verdict);
    }
  }
  const attempt = call.attempts + 1;
  const started = tool.effect === "read" ? head : await startCall(run, head, tool, block, index, attempt);
  if (!started) return actOnCall(run, index);
  const outcome = await runTool(deps, started, tool, block, index);
  return finishCall(run, started, block, { ...call, attempts: attempt }, outcome.outcome, outcome.tookMs);
}

/** Commits the intent; null when somebody else has moved the call meanwhile. */
async function startCall(
  run: Run,
  head: OpenHead,
  tool: Tool,
  block: CallBlock,
  index: number,
  attempt: number,
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
  };
  const before = openCall(head, index);
  let wrote = false;
  const after = await run.commitOwned((current) => {
    const call = openCall(current, index);
    wrote = call !== null && call.attempts === before?.attempts && call.status === before.status;
    return wrote ? event : null;
  }, head);
  return wrote ? (after as OpenHead) : null;
}

async function finishCall(
  run: Run,
  head: OpenHead,
  block: CallBlock,
  call: CallState,
  outcome: CallOutcome,
  tookMs?: number,
): Promise<void> {
  const { round } = head.state.turn;
  const event: Event = {
    type: "call.finished",
    round,
    index: call.index,
    callId: block.id,
    tool: call.tool,
    effect: call.effect,
    outcome,
    result: callResult(block.id, outcome),
    ...(tookMs === undefined ? {} : { tookMs }),
  };
  await run.commitOwned((current) => {
    const open = openCall(current, call.index);
    return open && open.attempts <= call.attempts ? event : null;
  }, head);
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

function denial(call: CallState): CallOutcome | null {
  const reasons = {
    rejected: "the approver rejected this call",
    expired: "this call was not approved in time",
    cancelled: "the approval of this call was cancelled",
  } as const;
  if (call.approval !== "rejected" && call.approval !== "expired" && call.approval !== "cancelled") return null;
  const message = reasons[call.approval];
  return { status: "denied", error: { name: "Denied", code: `approval.${call.approval}`, message } };
}
