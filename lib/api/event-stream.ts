// One client's live view of a session (Server-Sent Events, WHATWG HTML 9.2): the log from a version on, each event
// with its version as id, and between them what is only for watching. The log is the truth: whatever is lost here
// comes again after a reconnect with Last-Event-ID (G16). `live` says that the client has caught up: text that comes
// before the next event may lack its beginning. A stream never touches the turn it shows.
import { toErrorRecord } from "../core/errors.ts";
import type { LiveMessage } from "../ports/live.ts";
import type { EventView } from "../sessions/event-view.ts";
import { readViews } from "../sessions/events.ts";
import type { Deps } from "../steps/deps.ts";

export type EventStreamOptions = {
  deps: Pick<Deps, "store" | "clock" | "live" | "stopping" | "log">;
  tenant: string;
  sessionId: string;
  /** The first event is the one after this version. */
  after: number;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
};

export const heartbeatMs = 15_000;
/** Between two looks at the log without a bus, and as insurance when the bus has shown that it works. */
const pollMs = 1_000;
const pollWithBusMs = 5_000;
const bufferBytes = 256 * 1024;
const page = { limit: 100, maxBytes: 512 * 1024 };

/** Ends when the client goes, when the runtime stops, and when the client takes nothing for two heartbeats. */
export function eventStream(options: EventStreamOptions): ReadableStream<Uint8Array> {
  const { deps, tenant, sessionId } = options;
  const stop = new AbortController();
  const encoder = new TextEncoder();
  let last = options.after;
  let news = true;
  let caughtUp = false;
  let bus = false;
  let pulls = 0;
  let wake = () => {};
  let roomy = () => {};
  const end = () => {
    stop.abort();
    wake();
    roomy();
  };

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const unsubscribe = deps.live.subscribe(tenant, sessionId, (message) => hear(controller, message));
        for (const signal of [options.signal, deps.stopping]) {
          if (signal.aborted) end();
          signal.addEventListener("abort", end, { once: true, signal: stop.signal });
        }
        send(controller, "retry: 1000\n\n");
        beat(controller).catch(() => {});
        follow(controller)
          .catch((error) => sayError(controller, error))
          .finally(() => {
            unsubscribe();
            end();
            close(controller);
          });
      },
      pull() {
        pulls++;
        roomy();
      },
      cancel: end,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: bufferBytes }),
  );

  async function follow(controller: Controller): Promise<void> {
    while (!stop.signal.aborted) {
      news = false;
      for (;;) {
        await room(controller);
        if (stop.signal.aborted) return;
        const views = await readViews(deps, tenant, sessionId, { after: last, ...page });
        for (const view of views) send(controller, frame(view));
        last = views.at(-1)?.version ?? last;
        if (views.length === 0) break;
      }
      if (!caughtUp) send(controller, `event: live\ndata: ${JSON.stringify({ version: last })}\n\n`);
      caughtUp = true;
      await quiet();
    }
  }

  /** Until there is news or it is time to look. */
  async function quiet(): Promise<void> {
    if (news || stop.signal.aborted) return;
    const timer = new AbortController();
    wake = () => timer.abort();
    await deps.clock.sleep(bus ? pollWithBusMs : pollMs, timer.signal).catch(() => {});
    wake = () => {};
  }

  /** Until the client has taken enough: what is in the log can wait there. */
  async function room(controller: Controller): Promise<void> {
    while (!stop.signal.aborted && (controller.desiredSize ?? 0) <= 0) {
      await new Promise<void>((resolve) => {
        roomy = resolve;
      });
    }
  }

  async function beat(controller: Controller): Promise<void> {
    for (let stalledAt = -1; ; ) {
      await deps.clock.sleep(heartbeatMs, stop.signal);
      const full = (controller.desiredSize ?? 0) <= 0;
      if (full && stalledAt === pulls) {
        deps.log.warn("a reader of events was too slow and is cut", { sessionId });
        controller.error(withoutStack(new Error("a reader of events was too slow and is cut")));
        return end();
      }
      stalledAt = full ? pulls : -1;
      if (!full) send(controller, ": \n\n");
    }
  }

  function hear(controller: Controller, message: LiveMessage): void {
    if (message.kind === "version") {
      bus = true;
      news = true;
      wake();
      return;
    }
    const { kind, ...data } = message;
    // For watching only: a client that is behind gets it with the log.
    if ((controller.desiredSize ?? 0) > 0) send(controller, `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  function send(controller: Controller, text: string): void {
    if (!stop.signal.aborted) controller.enqueue(encoder.encode(text));
  }

  function sayError(controller: Controller, error: unknown): void {
    const { code, name } = toErrorRecord(error);
    deps.log.error("a stream of events ended with an error", { sessionId, code, name });
    send(controller, `event: error\ndata: ${JSON.stringify({ code })}\n\n`);
  }
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

function frame(view: EventView): string {
  return `id: ${view.version}\nevent: ${view.type}\ndata: ${JSON.stringify(view)}\n\n`;
}

/** The host prints what ends a stream; where it was thrown says nothing here. */
function withoutStack(error: Error): Error {
  error.stack = String(error);
  return error;
}

function close(controller: Controller): void {
  try {
    controller.close();
  } catch {
    // Cancelled by the client or cut: closed already.
  }
}
