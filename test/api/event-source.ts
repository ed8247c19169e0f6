// A client of an event stream over a real socket, that tests read event by event.

import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { serve } from "@hono/node-server";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { Api } from "../../lib/api/create-api.ts";

export type Listening = { url: string; port: number; close(): Promise<void> };

export async function listen(api: Api): Promise<Listening> {
  const server = serve({ fetch: api.fetch, hostname: "127.0.0.1", port: 0, overrideGlobalObjects: false });
  if (!server.listening) await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async close() {
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type Source = {
  status: number;
  /** The next `count` events but `live`, which counts as a comment. */
  take(count: number): Promise<EventSourceMessage[]>;
  comments: string[];
  /** Resolves when the server ends the stream. */
  ended: Promise<void>;
  leave(): void;
};

export async function openSource(url: string, options: { lastEventId?: string; token?: string } = {}): Promise<Source> {
  const leaving = new AbortController();
  const response = await fetch(url, {
    headers: {
      Accept: "text/event-stream",
      Authorization: `Bearer ${options.token ?? "acme/ann"}`,
      ...(options.lastEventId ? { "Last-Event-ID": options.lastEventId } : {}),
    },
    signal: leaving.signal,
  });
  const events: EventSourceMessage[] = [];
  const comments: string[] = [];
  let arrived = () => {};
  const parser = createParser({
    onEvent: (event) => {
      if (event.event === "live") comments.push(`live ${event.data}`);
      else events.push(event);
      arrived();
    },
    onComment: (comment) => {
      comments.push(comment);
      arrived();
    },
  });
  const read = async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) parser.feed(chunk);
  };
  return {
    status: response.status,
    comments,
    ended: read().catch(() => {}),
    leave: () => leaving.abort(),
    async take(count) {
      while (events.length < count) {
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
      return events.splice(0, count);
    },
  };
}

/** A client that asks for a stream and then reads nothing at all. */
export async function openDeafSocket(port: number, path: string): Promise<{ closed: Promise<void>; destroy(): void }> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.pause();
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer acme/ann\r\n\r\n`,
  );
  const closed = new Promise<void>((resolve) => {
    socket.on("error", () => resolve());
    socket.on("close", () => resolve());
  });
  return { closed, destroy: () => socket.destroy() };
}
