// The log of the demo's session, one line a version.
import pc from "picocolors";
import type { DemoEvent, DemoRun } from "./read-run.ts";

export function timeline(run: DemoRun): string[] {
  const [first] = run.events;
  const start = first ? Date.parse(first.at) : 0;
  return run.events.map((event) => {
    const seconds = ((Date.parse(event.at) - start) / 1000).toFixed(2).padStart(6);
    return `${String(event.version).padStart(3)}  +${seconds} s  ${paint(event)}${detail(event)}`;
  });
}

function paint(event: DemoEvent): string {
  const type = event.type.padEnd(20);
  if (event.type === "session.resumed") return pc.yellow(type);
  return event.type.startsWith("approval.") ? pc.cyan(type) : type;
}

function detail({ type, data }: DemoEvent): string {
  switch (type) {
    case "model.replied": {
      const calls = (data.calls as { tool: string }[] | undefined) ?? [];
      return calls.length > 0 ? `asks for ${calls.map((call) => call.tool).join(", ")}` : "answers";
    }
    case "call.started":
      return `${String(data.tool)} (${String(data.effect)}, attempt ${String(data.attempt)})`;
    case "call.finished":
      return `${String(data.tool)}: ${String((data.outcome as { status?: string } | undefined)?.status)}`;
    case "session.resumed":
      return `cause: ${String(data.cause)}`;
    case "approval.requested":
      return `${String(data.tool)} -> ${String((data.approvers as string[] | undefined)?.join(", "))}`;
    case "approval.mailed":
      return `to ${String(data.to)}`;
    case "approval.shown":
      return `to ${String(data.by)}; nothing is decided by looking`;
    case "approval.decided":
      return String(data.status);
    case "turn.finished":
      return String(data.endReason);
    default:
      return "";
  }
}
