// A `once` call whose outcome was not recorded: ask the tool itself whether it happened.
import type { CallBlock } from "../../core/content.ts";
import type { Tool, Verdict } from "../../core/define-tool.ts";
import type { CallOutcome } from "../../core/event.ts";
import { type Json, toJson } from "../../core/json.ts";
import type { Head } from "../../store/log.ts";
import type { Deps } from "../deps.ts";
import type { OpenState } from "../run.ts";
import { toolContext } from "../tool-context.ts";

/**
 * The outcome to record, or null when the tool says that it did not happen (then it may run). Without `verify`,
 * or when it cannot tell or fails: in doubt.
 */
export async function verifyCall(
  deps: Deps,
  head: Head & { state: OpenState },
  tool: Tool,
  block: CallBlock,
  index: number,
): Promise<CallOutcome | null> {
  const doubt: CallOutcome = {
    status: "in_doubt",
    error: {
      name: "OutcomeUnknown",
      code: "call.in_doubt",
      message: `"${tool.name}" was interrupted after it had been started; it may or may not have taken effect. It was not run again`,
    },
  };
  if (!tool.verify) return doubt;
  const { turn, round } = head.state.turn;
  const ctx = toolContext(deps, head.state, { turn, round, index, tool: tool.name }, deps.stopping);
  let verdict: Verdict;
  try {
    verdict = (await tool.verify(ctx.idempotencyKey, tool.input.parse(block.input), ctx)) as Verdict;
  } catch (error) {
    deps.log.warn("verify failed", { tool: tool.name, error: error instanceof Error ? error.name : "Error" });
    return doubt;
  }
  const status = typeof verdict === "string" ? verdict : verdict.status;
  if (status === "not_done") return null;
  if (status !== "done") return doubt;
  if (typeof verdict !== "object" || !("result" in verdict)) {
    return { status: "success", output: "done (confirmed afterwards)" };
  }
  const output = toJson(verdict.result, `what verify of "${tool.name}" answered`);
  const resources = tool.resources?.(output);
  return { status: "success", output, ...(resources ? { resources: toJson(resources, "resources") as Json[] } : {}) };
}
