// What happens to an open call now: run, finish without running, or put it to people (first, again, or because
// nobody knows whether it happened). Everything is read from the log and the approval's record; nothing is
// written here.
import { checkAtDispatch } from "../../core/approval/dispatch.ts";
import { approvalTerms } from "../../core/approval/terms.ts";
import { type Approval, approvalHash, currentInput } from "../../core/approval.ts";
import type { CallBlock } from "../../core/content.ts";
import type { ApprovalRule, Tool } from "../../core/define-tool.ts";
import { CallInProgress, UnreadableRecord } from "../../core/errors.ts";
import type { ApprovalKind, CallOutcome } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Origin } from "../../core/origins.ts";
import type { CallState } from "../../core/state.ts";
import { canonical, sha256 } from "../../store/encoding.ts";
import type { Head } from "../../store/log.ts";
import { agentOf, type Deps } from "../deps.ts";
import type { OpenState } from "../run.ts";
import { approvalRule } from "../think/plan-calls.ts";
import { toolContext } from "../tool-context.ts";
import { answeredDoubt, deniedBy } from "./decided-outcome.ts";
import { verifyCall } from "./verify-call.ts";

export type CallPlan =
  /** `approval`: the one that allows it, whose arguments these are. */
  | { next: "run"; input: JsonObject; approval?: Approval }
  | { next: "finish"; outcome: CallOutcome; approval?: Approval }
  | { next: "ask"; kind: ApprovalKind; input: JsonObject; rule: ApprovalRule | null; reason?: string };

export type CallToPlan = {
  head: Head & { state: OpenState };
  call: CallState;
  tool: Tool;
  /** As the model asked for it. */
  block: CallBlock;
};

/** Throws `CallInProgress` while another delivery holds the call. */
export async function planCall(deps: Deps, at: CallToPlan): Promise<CallPlan> {
  const { head, call, block } = at;
  const stored = call.approvalId ? await deps.store.approvals.get(head.tenant, call.approvalId) : null;
  if (call.approvalId && !stored) {
    throw new UnreadableRecord(`approval ${call.approvalId} is in the log and not in the store`);
  }
  const approval = stored?.approval ?? null;
  const input = approval ? (JSON.parse(currentInput(approval).input) as JsonObject) : block.input;
  if (call.status === "started") return afterInterruption(deps, at, approval, input);
  const rule = await ruleNow(deps, at, input);
  if (rule === "failed") return { next: "finish", outcome: policyFailed };
  if (call.doubt && approval) return afterDoubt(at, approval, input, rule);
  if (call.approval && approval) return afterDecision(deps, at, approval, input, rule);
  if (rule) return { next: "ask", kind: "call", input, rule };
  return { next: "run", input };
}

/** The intent is in the log without an outcome. */
async function afterInterruption(
  deps: Deps,
  at: CallToPlan,
  approval: Approval | null,
  input: JsonObject,
): Promise<CallPlan> {
  const { head, call, tool, block } = at;
  if ((call.leaseUntil ?? 0) > deps.clock.now()) throw new CallInProgress(`call ${call.index} is running elsewhere`);
  if (call.effect === "once" || tool.effect === "once") {
    const verdict = await verifyCall(deps, head, tool, { ...block, input }, call.index);
    if (verdict?.status === "in_doubt") return doubt(deps, at, input, verdict.error.message);
    if (verdict) return { next: "finish", outcome: verdict, ...(approval ? { approval } : {}) };
  }
  const allowed = approval?.kind === "call" ? approval : null;
  if (!allowed) return { next: "run", input, ...(approval ? { approval } : {}) };
  const rule = await ruleNow(deps, at, input);
  if (rule === "failed") return { next: "finish", outcome: policyFailed };
  // It was dispatched in time once; the same call, known not to have happened, does not expire by a crash.
  return dispatch(at, allowed, input, rule, Math.min(deps.clock.now(), allowed.expiresAt - 1));
}

/** People said whether it happened. */
function afterDoubt(at: CallToPlan, approval: Approval, input: JsonObject, rule: ApprovalRule | null): CallPlan {
  if (approval.verdict !== "not_happened") {
    return { next: "finish", outcome: answeredDoubt(approval, at.tool.name) };
  }
  if (rule && approval.toolVersion !== at.tool.version) {
    const reason = `asked about version ${approval.toolVersion} of the tool, which is now ${at.tool.version}`;
    return { next: "ask", kind: "call", input, rule, reason };
  }
  return { next: "run", input, approval };
}

function afterDecision(
  deps: Deps,
  at: CallToPlan,
  approval: Approval,
  input: JsonObject,
  rule: ApprovalRule | null,
): CallPlan {
  if (approval.status !== "approved") return { next: "finish", outcome: deniedBy(approval, at.call) };
  return dispatch(at, approval, input, rule, deps.clock.now());
}

/** The last look (H70): runs exactly what was approved, or asks again. */
function dispatch(
  at: CallToPlan,
  approval: Approval,
  input: JsonObject,
  rule: ApprovalRule | null,
  now: number,
): CallPlan {
  const { head, call, tool, block } = at;
  const { tenant, sessionId } = head;
  const place = head.state.turn;
  const asked = approvalHash(
    { tenant, sessionId, tool: call.tool, toolVersion: approval.toolVersion, input: canonical(block.input) },
    sha256,
  );
  const runs = approvalHash(
    { tenant, sessionId, tool: tool.name, toolVersion: tool.version, input: canonical(input) },
    sha256,
  );
  const same =
    asked === approval.inputHash &&
    approval.turn === place.turn &&
    approval.round === place.round &&
    approval.index === call.index;
  const check = same
    ? checkAtDispatch(approval, {
        tool: tool.name,
        toolVersion: tool.version,
        inputHash: runs,
        rule: rule && approvalTerms(rule),
        now,
      })
    : { askAgain: "the call is not the one that was asked about" };
  if (check === "ok") return { next: "run", input, approval };
  // What the model asked for is asked about again: an edit was made for what does not hold any more.
  return { next: "ask", kind: "call", input: block.input, rule: rule ?? ruleOf(approval), reason: check.askAgain };
}

/** Nobody knows: those who approve this tool are asked, else whose session it is. */
async function doubt(deps: Deps, at: CallToPlan, input: JsonObject, reason: string): Promise<CallPlan> {
  const rule = await ruleNow(deps, at, input);
  return { next: "ask", kind: "in_doubt", input, rule: rule === "failed" ? null : rule, reason };
}

/** Today's rule for these arguments; an author's function that fails must not open the gate. */
export async function ruleNow(
  deps: Deps,
  { head, call, tool }: Pick<CallToPlan, "head" | "call" | "tool">,
  input: JsonObject,
): Promise<ApprovalRule | null | "failed"> {
  const agent = agentOf(deps, head.state.agent);
  const beforeCall = agent.kind === "agent" ? agent.beforeCall : undefined;
  if (!tool.approval && !beforeCall) return null;
  const { turn, round } = head.state.turn;
  const place = { turn, round, index: call.index, tool: tool.name };
  try {
    const policy = beforeCall ? { beforeCall, origins: await originsAt(deps, head, call.index) } : undefined;
    return await approvalRule(tool, input, toolContext(deps, head.state, place, deps.stopping), policy);
  } catch (error) {
    deps.log.warn("an approval policy failed", {
      tool: tool.name,
      error: error instanceof Error ? error.name : "Error",
    });
    return "failed";
  }
}

/** What led to the call, as it was noted when the call was planned. */
async function originsAt(deps: Deps, head: Head & { state: OpenState }, index: number): Promise<Origin[]> {
  const reply = await deps.store.log.at(head.tenant, head.sessionId, head.state.turn.replyVersion);
  const calls = reply?.event.type === "model.replied" ? reply.event.calls : [];
  return calls.find((planned) => planned.index === index)?.origins ?? [];
}

/** The rule as it was when people were asked, for a tool that asks nobody today. */
function ruleOf({ terms }: Approval): ApprovalRule {
  return {
    approvers: terms.approvers,
    quorum: terms.quorum,
    ...(terms.escalateTo.length > 0 ? { escalateTo: terms.escalateTo } : {}),
    allowSelf: terms.allowSelf,
    allowEdit: terms.allowEdit,
    confirm: terms.confirm,
  };
}

const policyFailed: CallOutcome = {
  status: "denied",
  error: {
    name: "PolicyFailed",
    code: "approval.policy_failed",
    message: "the approval policy of this tool failed, so it was not run",
  },
};
