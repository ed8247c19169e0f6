// One connection to the live stream of a session.
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { EventView } from "../sessions/event-view.ts";
import { ProblemError, Unreachable } from "./cli-errors.ts";
import { problemError, reach } from "./client.ts";
import type { Connect } from "./connection.ts";

export type StreamItem =
  /** The connection stands. */
  | { kind: "open" }
  /** What was in the log is here; text that comes before the next event may lack its beginning. */
  | { kind: "live" }
  | { kind: "event"; event: EventView }
  | { kind: "text"; text: string }
  | { kind: "progress"; tool: string; message: string };

/** Three heartbeats without a byte: the connection is dead. */
const silenceMs = 45_000;

export async function* openStream(
  connect: Connect,
  path: string,
  after: number,
  signal: AbortSignal,
): AsyncIterable<StreamItem> {
  const { url, token } = connect();
  const lost = new AbortController();
  const either = AbortSignal.any([signal, lost.signal]);
  let timer = setTimeout(() => lost.abort(), silenceMs);
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => lost.abort(), silenceMs);
  };
  try {
    const headers = { Accept: "text/event-stream", Authorization: `Bearer ${token}`, "Last-Event-ID": String(after) };
    const response = await reach(url + path, { headers, signal: either });
    if (!response.ok) throw problemError(response.status, await response.text());
    yield { kind: "open" };
    const bytes = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          alive();
          controller.enqueue(chunk);
        },
      }),
    );
    const events = bytes?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    for await (const { id, event, data } of events ?? []) {
      const item = readItem(id, event, data);
      if (item) yield item;
    }
  } catch (cause) {
    if (signal.aborted || cause instanceof ProblemError || cause instanceof Unreachable) throw cause;
    throw new Unreachable(`the connection to ${url} was lost`, { cause });
  } finally {
    clearTimeout(timer);
    lost.abort();
  }
}

function readItem(id: string | undefined, name: string | undefined, data: string): StreamItem | null {
  const value = JSON.parse(data);
  if (id !== undefined) return { kind: "event", event: value as EventView };
  if (name === "live") return { kind: "live" };
  if (name === "text") return { kind: "text", text: String(value.text) };
  if (name === "progress") return { kind: "progress", tool: String(value.tool), message: String(value.message) };
  if (name === "error")
    throw new ProblemError({
      type: "about:blank",
      title: "Stream error",
      status: 500,
      code: String(value.code),
      detail: "the session's log cannot be read",
    });
  return null;
}
