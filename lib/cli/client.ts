// The API as the commands use it: the same for the embedded runtime and for a deployed one. A runtime that restarts is
// waited for; a message carries an idempotency key, so that sending it again is safe.
import { setTimeout as sleep } from "node:timers/promises";
import type { Problem } from "../api/problem.ts";
import type { Accepted } from "../sessions/accept.ts";
import type { EventView } from "../sessions/event-view.ts";
import type { CheckpointView, Page } from "../sessions/events.ts";
import type { SessionView } from "../sessions/session-view.ts";
import type { Tree } from "../sessions/tree-shape.ts";
import type { Settled } from "../sessions/wait.ts";
import { ProblemError, Unreachable } from "./cli-errors.ts";
import type { Connect, Connection } from "./connection.ts";
import { openStream, type StreamItem } from "./open-stream.ts";

export type Message = { key: string; text: string; agent?: string };
export type Receipt = Omit<Accepted, "status"> & { status: Accepted["status"] | Settled["status"]; answer?: string };

export type Client = {
  /** `waitSeconds` 0 to 25: with the finished turn when it settles in time. */
  send(message: Message, options: { idempotencyKey: string; waitSeconds?: number }): Promise<Receipt>;
  sessions(query: { status?: string; key?: string; limit?: string; cursor?: string }): Promise<Page<SessionView>>;
  session(id: string): Promise<Tree>;
  events(id: string, after: number): Promise<Page<EventView>>;
  checkpoint(id: string, version: number): Promise<CheckpointView>;
  /** POST /v1/sessions/{id}/{action}. */
  control(id: string, action: string, body: object): Promise<SessionView>;
  /** One connection to the live stream; ends or throws `Unreachable` when it is lost. */
  stream(id: string, after: number, signal: AbortSignal): AsyncIterable<StreamItem>;
  /** Any other call. */
  call<T>(method: string, path: string, options?: CallOptions): Promise<T>;
};

/** `lines`: JSON lines instead of one JSON body. `text`: answer the body as it is. */
export type CallOptions = { body?: object; lines?: string; text?: boolean; headers?: Record<string, string> };

/** How long a restarting runtime is waited for. */
const patienceMs = 20_000;
const pauseMs = 300;

export function createClient(connect: Connect): Client {
  let answered = false;
  async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const until = Date.now() + patienceMs;
    for (;;) {
      const connection = connect();
      try {
        const value = await once(connection, method, path, options);
        answered = true;
        return value as T;
      } catch (error) {
        const busy = error instanceof ProblemError && error.problem.status === 503;
        // An address that never answered is wrong rather than restarting, unless a supervisor lives behind it.
        const away = error instanceof Unreachable && (answered || connection.local);
        if (!(busy || away) || Date.now() > until) throw error;
        await sleep(pauseMs);
      }
    }
  }
  const at = (id: string) => `/v1/sessions/${encodeURIComponent(id)}`;
  return {
    call,
    send: (message, { idempotencyKey, waitSeconds = 0 }) =>
      call("POST", `/v1/messages${waitSeconds > 0 ? `?wait=${waitSeconds}` : ""}`, {
        body: message,
        headers: { "Idempotency-Key": idempotencyKey },
      }),
    sessions: (query) => call("GET", `/v1/sessions?${new URLSearchParams(definedOnly(query))}`),
    session: (id) => call("GET", at(id)),
    events: (id, after) => call("GET", `${at(id)}/events?after=${after}`),
    checkpoint: (id, version) => call("GET", `${at(id)}/checkpoints/${version}`),
    control: (id, action, body) => call("POST", `${at(id)}/${action}`, { body }),
    stream: (id, after, signal) => openStream(connect, `${at(id)}/events`, after, signal),
  };
}

async function once(connection: Connection, method: string, path: string, options: CallOptions): Promise<unknown> {
  const { url, token } = connection;
  const response = await reach(url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...options.headers },
    ...(options.body ? { body: JSON.stringify(options.body) } : {}),
    ...(options.lines === undefined ? {} : { body: options.lines }),
  });
  const text = await response.text().catch((cause) => {
    throw new Unreachable(`the connection to ${url} was lost`, { cause });
  });
  if (!response.ok) throw problemError(response.status, text);
  return options.text ? text : JSON.parse(text);
}

/** `fetch`; throws `Unreachable` when there is no answer at all. */
export async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    throw new Unreachable(`cannot reach ${new URL(url).origin}`, { cause });
  }
}

/** The problem in an answer; something in between (a proxy) may have answered otherwise. */
export function problemError(status: number, text: string): ProblemError {
  try {
    const problem = JSON.parse(text) as Problem;
    if (typeof problem.code === "string" && typeof problem.detail === "string") return new ProblemError(problem);
  } catch {
    // Not a problem: said below.
  }
  const detail = `the answer was ${status} and not one of a Baton runtime`;
  return new ProblemError({ type: "about:blank", title: "Unexpected answer", status, code: "unexpected", detail });
}

function definedOnly(query: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])));
}
