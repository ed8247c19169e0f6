// A session's tree as lines for a terminal or a pipe.
import type { Json } from "../core/json.ts";
import type { Step, Tree, Turn } from "../sessions/tree-shape.ts";
import { type Output, oneLine, printable } from "./output.ts";
import { paintStatus } from "./paint-status.ts";
import { textIn } from "./turn-printer.ts";

type Paint = Output["paint"];

export function renderTree(tree: Tree, paint: Paint): string[] {
  return [...header(tree, paint), ...tree.turns.flatMap((turn) => renderTurn(turn, paint)), ...footer(tree, paint)];
}

function header({ session }: Tree, paint: Paint): string[] {
  const { usage } = session;
  const facts: [string, string | undefined][] = [
    ["key", session.key],
    ["agent", session.agent],
    ["user", `${session.user} of ${session.tenant}`],
    ["created", session.createdAt],
    ["parent", session.parent && `${session.parent.sessionId} at v${session.parent.version}`],
    ["closed by", session.closedBy],
    ["suspended", session.suspended && `${session.suspended.cause} (${session.suspended.at})`],
    ["resume", session.resumePending && `pending: ${session.resumePending.cause} (${session.resumePending.at})`],
    [
      "usage",
      `${usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens} tokens in, ${usage.outputTokens} out, $${usage.usd}`,
    ],
  ];
  return [
    `${paint.bold(session.id)}  ${paintStatus(paint, session.status)}  v${session.version}`,
    ...facts.flatMap(([name, value]) =>
      value === undefined ? [] : [`  ${paint.dim(name.padEnd(10))}${oneLine(value, 200)}`],
    ),
  ];
}

function renderTurn(turn: Turn, paint: Paint): string[] {
  const end = [turn.endReason, seconds(turn.durationMs), turn.rolledBack ? "rolled back" : undefined];
  const about = end.filter((part) => part !== undefined && part !== "completed").join(", ");
  return [
    "",
    `${paint.bold(`Turn ${turn.turn}`)}  ${paintStatus(paint, turn.status)}${about ? paint.dim(`  ${about}`) : ""}`,
    ...indent(textIn(turn.input) || "(a picture)", "  > "),
    ...turn.steps.flatMap((step) => renderStep(step, paint)),
  ];
}

function renderStep(step: Step, paint: Paint): string[] {
  const place = paint.dim(`${String(step.step).padStart(4)}  v${String(step.version).padEnd(4)}`);
  const what = [step.kind.padEnd(11), step.name && oneLine(step.name)].filter(Boolean).join(" ");
  const more = [
    step.skipped ? "not needed" : undefined,
    step.attempts && step.attempts > 1 ? `attempt ${step.attempts}` : undefined,
    step.approval && `approval ${step.approval.id} ${step.approval.status}`,
    seconds(step.durationMs),
  ].filter((part) => part !== undefined);
  const first = `${place} ${paintStatus(paint, step.status, mark(step.status))} ${what}${paint.dim(more.length > 0 ? `  ${more.join(", ")}` : "")}`;
  return [
    first.trimEnd(),
    ...detail(step).map((line) => `${" ".repeat(14)}${step.kind === "final" ? line : paint.dim(line)}`),
  ];
}

function detail(step: Step): string[] {
  if (step.error) return [oneLine(`${step.error.message} (${step.error.code})`, 200)];
  const text = textIn(step.content);
  switch (step.kind) {
    case "final":
      return printable(text).split("\n");
    case "action":
      return step.content.map((block) => oneLine(JSON.stringify(inputOf(block)), 160));
    case "observation":
      return [oneLine(text || JSON.stringify(step.output ?? null), 160)];
    case "thought":
      return text ? [oneLine(text, 160)] : [];
  }
}

function inputOf(block: Json): Json {
  return block && typeof block === "object" && !Array.isArray(block) ? (block.input ?? null) : null;
}

function footer({ openCalls, approvals }: Tree, paint: Paint): string[] {
  if (openCalls.length === 0) return [];
  return [
    "",
    paint.bold("Open"),
    ...openCalls.map(
      (call) => `  ${oneLine(call.tool)}  ${paintStatus(paint, call.status === "started" ? "executing" : call.status)}`,
    ),
    ...approvals.map(
      (approval) =>
        `  ${paint.yellow("?")} ${oneLine(approval.tool)} waits for ${oneLine(approval.approvers.join(", "))} until ${approval.expiresAt} (approval ${oneLine(approval.id)})`,
    ),
  ];
}

function mark(status: Step["status"]): string {
  return { pending: "·", executing: "…", success: "✓", failed: "✗", cancelled: "–" }[status];
}

function indent(text: string, with_: string): string[] {
  return printable(text)
    .split("\n")
    .map((line) => `${with_}${line}`);
}

function seconds(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : `${(ms / 1000).toFixed(1)} s`;
}
