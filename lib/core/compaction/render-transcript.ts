// A history as plain text for the summariser: tool calls and results become lines, so that no pair can be split and
// nothing in it looks like a message to the summariser (H32, H56).
import type { ResultBlock, UserContent } from "../content.ts";
import type { LoggedEvent } from "../context/logged-event.ts";
import { stubText } from "../context/stub-result.ts";
import type { Event } from "../event.ts";

/** One entry for each event that says something, in order; none has more than about `maxTokens`. */
export function renderTranscript(events: readonly LoggedEvent[], maxTokens: number): string[] {
  return events.flatMap(({ event, version }) => {
    const text = renderEvent(event).join("\n");
    return text === "" ? [] : [stubText(text, { maxTokens, version })];
  });
}

function renderEvent(event: Event): string[] {
  switch (event.type) {
    case "turn.started":
    case "turn.steered":
      return event.messages.map((message) => `User: ${renderContent(message.content)}`);
    case "model.replied":
      return event.content.flatMap((block) => {
        if (block.type === "text") return block.text.trim() ? [`Assistant: ${block.text}`] : [];
        return block.type === "call" ? [`Assistant calls ${block.name} ${JSON.stringify(block.input)}`] : [];
      });
    case "call.finished":
      return [
        `Result of ${event.tool}${event.result.isError ? " (error)" : ""}: ${renderContent(event.result.content)}`,
      ];
    case "turn.finished":
      return event.endReason === "completed" ? [] : [`The turn ended: ${event.endReason}.`];
    case "turn.failed":
      return [`The turn failed: ${event.endReason}.`];
    case "notice":
      return [`Note of the runtime: ${event.text}`];
    case "rolled.back":
      return ["The session was rolled back to this point."];
    default:
      return [];
  }
}

function renderContent(content: readonly (UserContent | ResultBlock["content"][number])[]): string {
  return content.map((block) => (block.type === "text" ? block.text : "[picture]")).join("\n");
}
