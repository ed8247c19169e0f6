// What the calls of a reply may do, settled when the reply is stored: run, ask first, or never run. A
// refusal is an error result for the model, never a crash.
import type { BeforeCall } from "../../core/before-call.ts";
import type { CallBlock, StopReason } from "../../core/content.ts";
import { builtInNames } from "../../core/define-agent.ts";
import { type ApprovalRule, checkRule, type Tool, type ToolContext } from "../../core/define-tool.ts";
import type { PlannedCall } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import type { Origin } from "../../core/origins.ts";

/** The author's policy over all tools, and what it is told about the context. */
export type CallPolicy = { beforeCall: BeforeCall; origins: readonly Origin[] };

export type PlanOptions = {
  calls: CallBlock[];
  stop: StopReason;
  tools: readonly Tool[];
  /** Context for an approval function. */
  contextOf: (index: number, tool: string) => ToolContext;
  /** This many times in a row the same single call was asked for, this one included. */
  repeated: number;
  sameCall: number;
  policy?: CallPolicy;
  /** Why this tool must not run in this turn any more; null when it may. @default none is closed */
  closed?: (tool: Tool) => string | null;
};

export async function planCalls(options: PlanOptions): Promise<PlannedCall[]> {
  return Promise.all(options.calls.map((call, index) => planCall(call, index, options)));
}

async function planCall(call: CallBlock, index: number, options: PlanOptions): Promise<PlannedCall> {
  const tool = options.tools.find((candidate) => candidate.name === call.name);
  const planned = { index, id: call.id, tool: call.name, effect: tool?.effect ?? ("read" as const) };
  const refused = refusal(call, tool, options);
  if (refused !== null || !tool) return { ...planned, gated: false, refused: refused ?? "unknown tool" };
  try {
    const rule = await approvalRule(tool, call.input, options.contextOf(index, tool.name), options.policy);
    const origins = options.policy ? { origins: [...options.policy.origins] } : {};
    return { ...planned, gated: rule !== null, ...origins };
  } catch (error) {
    if (error instanceof CallRefused) return { ...planned, gated: false, refused: error.message };
    // An approval function that fails must not open the gate.
    const message = error instanceof Error ? error.message : String(error);
    return { ...planned, gated: false, refused: `the approval policy of this tool failed (${message})` };
  }
}

/** Why the call must not run; null when it may. */
function refusal(call: CallBlock, tool: Tool | undefined, options: PlanOptions): string | null {
  if (options.stop === "max_tokens") {
    return "the reply was cut off by the output limit; ask again with fewer or shorter arguments";
  }
  if (call.invalid) return call.invalid;
  if (!tool) {
    const names = options.tools.map((candidate) => candidate.name).join(", ");
    return `there is no tool "${call.name}"; available: ${names || "none"}`;
  }
  const closed = options.closed?.(tool);
  if (closed) return closed;
  const parsed = tool.input.safeParse(call.input);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`);
    return `the arguments do not fit: ${issues.join("; ")}`;
  }
  if (options.repeated >= options.sameCall) {
    return `"${call.name}" was called ${options.repeated} times in a row with the same arguments; use the results you have, change the arguments, or answer`;
  }
  return null;
}

/** The policy allows this call under no rule. The message is for the model. */
export class CallRefused extends Error {
  override readonly name = "CallRefused";
}

/**
 * The rule that holds for this input, or null when none does. Throws `CallRefused` when the policy refuses, and what an
 * author's function throws.
 */
export async function approvalRule(
  tool: Tool,
  input: unknown,
  ctx: ToolContext,
  policy?: CallPolicy,
): Promise<ApprovalRule | null> {
  const own = await ownRule(tool, input, ctx);
  // Built-in tools touch nothing but the session's own record.
  if (!policy || builtInNames.includes(tool.name)) return own;
  const { name, effect } = tool;
  const call = { tool: name, input: input as Json, effect, origins: policy.origins, approval: own };
  const verdict = await policy.beforeCall(freeze(structuredClone(call)), ctx);
  if (!verdict) return own;
  if ("refuse" in verdict) throw new CallRefused(`not allowed: ${verdict.refuse}`);
  return checkRule(verdict.approval, `beforeCall for tool "${name}"`);
}

/** A policy that could change the arguments would check others than those that run. */
function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}

async function ownRule(tool: Tool, input: unknown, ctx: ToolContext): Promise<ApprovalRule | null> {
  if (!tool.approval) return null;
  if (typeof tool.approval !== "function") return tool.approval;
  const rule = await tool.approval(tool.input.parse(input), ctx);
  return rule ? checkRule(rule, `tool "${tool.name}".approval`) : null;
}
