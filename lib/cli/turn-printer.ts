// A turn as it happens, for people: text as it comes on a terminal, one plain line a step in a pipe, one JSON line an
// event with --json.
import type { Json } from "../core/json.ts";
import type { EventView } from "../sessions/event-view.ts";
import type { SessionItem } from "./follow-session.ts";
import { type Output, oneLine, printable } from "./output.ts";

export type TurnEnd = { status: "completed" | "error"; endReason: string; answer: string; version: number };

export type TurnPrinter = {
  /** Prints what is new; answers the end of the turn when this was it. */
  show(item: SessionItem): TurnEnd | null;
  /** A note about the watching itself. */
  note(text: string): void;
};

/** Prints the events of `turn`; those of earlier turns are passed over. `joining`: the turn runs already. */
export function createTurnPrinter(output: Output, turn: number, joining = false): TurnPrinter {
  const { paint, terminal } = output;
  let streamed = "";
  let printed = "";
  let lineOpen = false;
  // After joining late the beginning of a reply may be missing: that reply is shown when it is in the log.
  let text: "shown" | "until live" | "until event" = joining ? "until live" : "shown";

  function endLine(): void {
    if (lineOpen) output.line();
    lineOpen = false;
  }

  function line(text: string): void {
    endLine();
    output.line(text);
  }

  function stepLine(event: EventView, mark: string, what: string): void {
    line(`${paint.dim(`v${event.version}`.padEnd(5))}${mark} ${what}`);
  }

  function stream(delta: string): void {
    if (!terminal || text !== "shown") return;
    streamed += delta;
    output.write(printable(delta));
    lineOpen = true;
  }

  /** The reply as it is in the log counts: what was streamed may have been cut, or missed in a reconnect. */
  function reply(whole: string): void {
    const shown = streamed;
    streamed = "";
    if (whole === "") return;
    printed = whole;
    if (shown.trim() === whole.trim()) {
      endLine();
    } else if (shown !== "" && whole.startsWith(shown)) {
      output.line(printable(whole.slice(shown.length)));
      lineOpen = false;
    } else line(printable(whole));
  }

  function event(event: EventView): TurnEnd | null {
    const { data } = event;
    switch (event.type) {
      case "model.replied": {
        reply(textIn(data.content));
        for (const call of records(data.content).filter((block) => block.type === "call")) {
          stepLine(
            event,
            paint.cyan("→"),
            `${oneLine(String(call.name))} ${paint.dim(oneLine(JSON.stringify(call.input)))}`,
          );
        }
        for (const call of records(data.calls).filter((planned) => planned.refused !== undefined)) {
          stepLine(event, paint.red("✗"), `${oneLine(String(call.tool))}: ${oneLine(String(call.refused))}`);
        }
        return null;
      }
      case "model.failed":
        streamed = "";
        stepLine(
          event,
          paint.yellow("!"),
          `the model did not answer (${code(data.error)})${data.retryAt ? "; trying again" : ""}`,
        );
        return null;
      case "flow.planned":
        stepLine(
          event,
          paint.cyan("→"),
          `${oneLine(String(data.name))}: ${records(data.calls)
            .map((call) => oneLine(String(call.tool)))
            .join(", ")}`,
        );
        return null;
      case "flow.advanced":
        stepLine(
          event,
          data.skipped ? paint.dim("–") : paint.green("✓"),
          `${oneLine(String(data.name))}${data.skipped ? " (not needed)" : ""}`,
        );
        return null;
      case "step.failed":
        stepLine(event, paint.red("✗"), oneLine(`${data.name}: ${message(data.error)}`));
        return null;
      case "call.finished": {
        const outcome = record(data.outcome);
        const took = typeof data.tookMs === "number" ? paint.dim(` ${(data.tookMs / 1000).toFixed(1)} s`) : "";
        const good = outcome.status === "success";
        stepLine(
          event,
          good ? paint.green("✓") : paint.red("✗"),
          `${oneLine(String(data.tool))}${good ? "" : `: ${oneLine(message(outcome.error))}`}${took}`,
        );
        return null;
      }
      case "approval.requested":
        stepLine(
          event,
          paint.yellow("?"),
          `${oneLine(String(data.tool))} waits for ${oneLine(words(data.approvers))} (approval ${oneLine(String(data.approvalId))})`,
        );
        return null;
      case "approval.decided":
        stepLine(event, paint.yellow("?"), `approval ${oneLine(String(data.status))}`);
        return null;
      case "session.resumed":
        streamed = "";
        stepLine(event, paint.magenta("↻"), `resumed (${oneLine(String(data.cause))})`);
        return null;
      case "compaction.done":
        stepLine(event, paint.dim("≡"), "context compacted");
        return null;
      case "stop.requested":
        stepLine(event, paint.yellow("■"), `stop requested: ${oneLine(String(data.reason))}`);
        return null;
      case "turn.finished":
      case "turn.failed": {
        const end = endOf(event);
        const answer = end?.answer ?? "";
        const bad = end?.status === "error";
        if (answer.trim() !== printed.trim() && answer !== "")
          line(bad ? paint.red(printable(answer)) : printable(answer));
        else endLine();
        return end;
      }
      default:
        return endOf(event);
    }
  }

  return {
    note(text) {
      endLine();
      output.note(paint.dim(text));
    },
    show(item) {
      if (item.kind === "reconnected") {
        streamed = "";
        text = "until live";
        return null;
      }
      if (item.kind === "live") {
        if (text === "until live") text = "until event";
        return null;
      }
      if (item.kind === "event" && text === "until event") text = "shown";
      if (item.kind === "event" && item.event.turn < turn) return null;
      if (output.json) {
        output.value(item.kind === "event" ? item.event : item);
        return item.kind === "event" ? endOf(item.event) : null;
      }
      if (item.kind === "text") stream(item.text);
      if (item.kind === "progress" && terminal)
        line(paint.dim(`      ${oneLine(item.tool)}: ${oneLine(item.message)}`));
      return item.kind === "event" ? event(item.event) : null;
    },
  };
}

/** The end of a turn in an event, or null. */
export function endOf({ type, data, version }: EventView): TurnEnd | null {
  if (type === "rolled.back" || type === "session.closed") {
    return { status: "error", endReason: type, answer: "", version };
  }
  if (type !== "turn.finished" && type !== "turn.failed") return null;
  const status = data.status === "completed" ? "completed" : "error";
  return { status, endReason: String(data.endReason), answer: String(data.answer ?? ""), version };
}

/** The visible text of blocks. */
export function textIn(content: Json | undefined): string {
  return records(content)
    .flatMap((block) => (block.type === "text" && typeof block.text === "string" ? [block.text] : []))
    .join("\n\n")
    .trim();
}

function records(value: Json | undefined): { [key: string]: Json }[] {
  return Array.isArray(value) ? value.map(record) : [];
}

function record(value: Json | undefined): { [key: string]: Json } {
  return value && typeof value === "object" && !Array.isArray(value) ? value : {};
}

function message(error: Json | undefined): string {
  return String(record(error).message ?? "failed");
}

function code(error: Json | undefined): string {
  return String(record(error).code ?? "unknown");
}

function words(value: Json | undefined): string {
  return Array.isArray(value) ? value.join(", ") : "";
}
