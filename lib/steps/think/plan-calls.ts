// What the calls of a reply may do, settled when the reply is stored: run, ask first, or never run. A
// refusal is an error result for the model, never a crash.
import type { CallBlock, StopReason } from "../../core/content.ts";
import { type ApprovalRule, checkRule, type Tool, type ToolContext } from "../../core/define-tool.ts";
import type { PlannedCall } from "../../core/event.ts";

export type PlanOptions = {
  calls: CallBlock[];
  stop: StopReason;
  tools: readonly Tool[];
  /** Context for an approval function. */
  contextOf: (index: number, tool: string) => ToolContext;
  /** This many times in a row the same single call was asked for, this one included. */
  repeated: number;
  sameCall: number;
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
    const rule = await approvalRule(tool, call.input, options.contextOf(index, tool.name));
    return { ...planned, gated: rule !== null };
  } catch (error) {
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

/** The rule that holds for this input, or null when none does. Throws when the author's function does. */
export async function approvalRule(tool: Tool, input: unknown, ctx: ToolContext): Promise<ApprovalRule | null> {
  if (!tool.approval) return null;
  if (typeof tool.approval !== "function") return tool.approval;
  const rule = await tool.approval(tool.input.parse(input), ctx);
  return rule ? checkRule(rule, `tool "${tool.name}".approval`) : null;
}
