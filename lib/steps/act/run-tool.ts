// Runs a tool's code under its time-out. Whatever it does (throw, hang, answer something that is not JSON)
// becomes an outcome.
import type { CallBlock } from "../../core/content.ts";
import type { Tool } from "../../core/define-tool.ts";
import { OutcomeUnknown } from "../../core/errors.ts";
import type { CallOutcome } from "../../core/event.ts";
import { type Json, toJson } from "../../core/json.ts";
import type { Head } from "../../store/log.ts";
import type { Deps } from "../deps.ts";
import type { OpenState } from "../run.ts";
import { toolContext } from "../tool-context.ts";
import { verifyCall } from "./verify-call.ts";

type OpenHead = Head & { state: OpenState };
class ToolTimedOut extends Error {
  override readonly name = "ToolTimedOut";
}

export async function runTool(
  deps: Deps,
  head: OpenHead,
  tool: Tool,
  block: CallBlock,
  index: number,
): Promise<{ outcome: CallOutcome; tookMs: number }> {
  const startedAt = deps.clock.now();
  const outcome = await attempt(deps, head, tool, block, index);
  return { outcome, tookMs: Math.max(0, deps.clock.now() - startedAt) };
}

async function attempt(deps: Deps, head: OpenHead, tool: Tool, block: CallBlock, index: number): Promise<CallOutcome> {
  const { turn, round } = head.state.turn;
  const timer = new AbortController();
  const abort = new AbortController();
  const ctx = toolContext(deps, head.state, { turn, round, index, tool: tool.name }, () =>
    AbortSignal.any([abort.signal, deps.stopping]),
  );
  try {
    const input = tool.input.parse(block.input);
    const timeout = deps.clock.sleep(tool.timeoutMs, timer.signal).then(() => {
      const error = new ToolTimedOut(`"${tool.name}" did not answer within ${tool.timeoutMs / 1000} s`);
      abort.abort(error);
      throw error;
    });
    // When the tool wins, the timer is cancelled; that rejection is of no interest.
    timeout.catch(() => {});
    const output = await Promise.race([Promise.resolve(tool.run(input, ctx)), timeout]);
    return success(tool, output);
  } catch (error) {
    // The process is told to stop: leave the call open, the next owner decides by its effect.
    if (deps.stopping.aborted) throw error;
    return failure(deps, head, tool, block, index, error);
  } finally {
    timer.abort(answered);
  }
}

/** A plain reason: without one, each call would pay for an error with its stack that nobody reads. */
const answered = "the tool has answered";

function success(tool: Tool, value: unknown): CallOutcome {
  const output: Json = value === undefined ? null : toJson(value, `what "${tool.name}" answered`);
  const resources = tool.resources?.(output);
  return { status: "success", output, ...(resources ? { resources: toJson(resources, "resources") as Json[] } : {}) };
}

/** A tool with effect `once` that failed may have had its effect: ask `verify`; a time-out is in doubt. */
async function failure(
  deps: Deps,
  head: OpenHead,
  tool: Tool,
  block: CallBlock,
  index: number,
  error: unknown,
): Promise<CallOutcome> {
  const record = toolError(tool, error);
  const late = error instanceof ToolTimedOut || error instanceof OutcomeUnknown;
  if (tool.effect === "once" && (late || tool.verify)) {
    const verdict = tool.verify ? await verifyCall(deps, head, tool, block, index) : null;
    if (verdict?.status === "success") return verdict;
    if (verdict || (late && !tool.verify)) return { status: "in_doubt", error: record };
  }
  return { status: "failed", error: record };
}

function toolError(tool: Tool, error: unknown): { name: string; code: string; message: string } {
  if (error instanceof ToolTimedOut) return { name: error.name, code: "tool.timed_out", message: error.message };
  const name = error instanceof Error && error.name ? error.name : "Error";
  const message = error instanceof Error ? error.message : String(error);
  return { name, code: "tool.failed", message: `"${tool.name}" failed: ${message || name}` };
}
