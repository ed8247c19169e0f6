// What the model is told about a call that people have decided on: the truth, and in their words.
import { describeInput } from "../../core/approval/describe.ts";
import { type Approval, type ApprovalDecision, currentInput } from "../../core/approval.ts";
import type { CallOutcome } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { CallState } from "../../core/state.ts";
import { canonical } from "../../store/encoding.ts";

/** The outcome of a call that was not approved. One that had been started before may have happened all the same. */
export function deniedBy(approval: Approval, call: Pick<CallState, "attempts" | "effect">): CallOutcome {
  const message = `${approval.tool} was not run: ${whyNot(approval)}`;
  if (call.attempts > 0 && call.effect !== "read") {
    const unknown = `an earlier attempt had been started and may have taken effect; it was not run again, since ${whyNot(approval)}`;
    return { status: "in_doubt", error: { name: "OutcomeUnknown", code: "call.in_doubt", message: unknown } };
  }
  const status = approval.status === "cancelled" ? "cancelled" : "denied";
  return { status, error: { name: "Denied", code: `approval.${approval.status}`, message } };
}

/** The outcome of a call in doubt that is not run again. */
export function answeredDoubt(approval: Approval, tool: string): CallOutcome {
  const answer = approval.decisions.at(-1);
  if (approval.verdict === "happened" && answer) {
    return {
      status: "success",
      output: {
        outcome: `${tool} did happen; its own answer was lost`,
        confirmedBy: answer.by,
        ...(answer.comment ? { comment: answer.comment } : {}),
      },
    };
  }
  const asked = `"${tool}" was interrupted after it had been started; it may or may not have taken effect. It was not run again`;
  const ended = answer
    ? `${answer.by} could not tell either${commentOf(answer)}`
    : approval.status === "cancelled"
      ? "the question to people was cancelled"
      : "nobody who was asked answered in time";
  return {
    status: "in_doubt",
    error: { name: "OutcomeUnknown", code: "call.in_doubt", message: `${asked}; ${ended}` },
  };
}

/** What the model should know beside the result: comments, and how approvers changed the arguments. Null: nothing. */
export function approvalNote(approval: Approval, asked: JsonObject): string | null {
  const ran = currentInput(approval).input;
  const lines: string[] = [];
  if (ran !== canonical(asked)) {
    const who = approval.edited?.by ?? "an approver";
    lines.push(
      `${who} changed the arguments before approving; it ran with the changed ones, not with yours:`,
      ...changesOf(asked, JSON.parse(ran) as Json),
    );
  }
  for (const decision of approval.decisions) {
    if (!decision.superseded && decision.comment) lines.push(`Comment of ${decision.by}:${commentOf(decision)}`);
  }
  return lines.length === 0 ? null : `Note on the approval. ${lines.join("\n")}`;
}

const maxChanges = 20;

function changesOf(before: Json, after: Json): string[] {
  const was = new Map(describeInput(before).map(({ label, text }) => [label, text]));
  const is = new Map(describeInput(after).map(({ label, text }) => [label, text]));
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter((label) => was.get(label) !== is.get(label));
  const lines = changed.slice(0, maxChanges).map((label) => {
    return `- ${label}: ${quoted(was.get(label))} -> ${quoted(is.get(label))}`;
  });
  return changed.length > maxChanges ? [...lines, `- and ${changed.length - maxChanges} more`] : lines;
}

function quoted(text: string | undefined): string {
  if (text === undefined) return "(not set)";
  const characters = Array.from(text);
  return JSON.stringify(characters.length > 500 ? `${characters.slice(0, 499).join("")}…` : text);
}

function whyNot(approval: Approval): string {
  const last = approval.decisions.at(-1);
  switch (approval.status) {
    case "rejected":
      return `${last?.by ?? "an approver"} rejected it${last ? commentOf(last) : ""}`;
    case "cancelled":
      return `its approval was cancelled${approval.cancelReason ? ` (${approval.cancelReason})` : ""}`;
    default:
      return "it was not approved in time";
  }
}

/** People's words, set apart as data. */
function commentOf(decision: Pick<ApprovalDecision, "comment">): string {
  return decision.comment ? ` ${JSON.stringify(decision.comment)}` : "";
}
