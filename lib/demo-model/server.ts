// A small server that speaks the Messages API: scripted for tests, faults included, or playing by rules for
// whoever has no key. It says of itself that it is not an LLM.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json, JsonObject } from "../core/json.ts";
import { checkRequest, type MessagesRequest } from "./check-request.ts";
import { countInput, createPromptCache, type InputUsage } from "./prompt-cache.ts";
import { digest, replyJson, replyOf } from "./reply.ts";
import { replyByRules } from "./rules.ts";
import { type FaultLine, isFault, type ReplyLine, type ScriptLine } from "./script-line.ts";
import { streamFault, streamReply } from "./stream.ts";

export type DemoModelOptions = {
  /** 0 takes a free one. @default 0 */
  port?: number;
  /** One line a reply; out of lines is an error. @default none: replies by rules */
  script?: readonly ScriptLine[];
  /** Pause before each streamed piece, in milliseconds. @default 0 */
  latencyMs?: number;
  /** Shortest prefix that the simulated prompt cache keeps, in tokens. @default 1024 */
  minCacheTokens?: number;
};

export type SeenRequest = { path: string; headers: IncomingMessage["headers"]; body: Json };

export type DemoModelServer = {
  /** http://127.0.0.1:port */
  url: string;
  close: () => Promise<void>;
  /** What came in, oldest first; the last 1,000. */
  requests: SeenRequest[];
  /** Adds script lines; they are used up before rules apply. */
  push: (...lines: ScriptLine[]) => void;
};

const maxBodyBytes = 32 * 1024 * 1024;

export async function createDemoModelServer(options: DemoModelOptions = {}): Promise<DemoModelServer> {
  const lines = [...(options.script ?? [])];
  const requests: SeenRequest[] = [];
  const countUsage = createPromptCache(options.minCacheTokens ?? 1024);
  const nextLine = (request: MessagesRequest): ScriptLine | null =>
    lines.shift() ?? (options.script ? null : replyByRules(request));

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, 500, error instanceof Error ? error.message : String(error));
    });
  });

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(incoming.url ?? "/", "http://demo").pathname;
    const text = await readBody(incoming);
    if (text === null) return refuse(response, 413, "Request exceeds the maximum size");
    const body = parse(text);
    const ordinal = requests.push({ path, headers: incoming.headers, body: body ?? null });
    if (requests.length > 1000) requests.shift();
    response.setHeader("request-id", `req_${digest(`${ordinal} ${text}`).slice(0, 24)}`);
    if (incoming.method === "GET" && path === "/v1/models") return answer(response, models);
    const counting = path === "/v1/messages/count_tokens";
    if (incoming.method !== "POST" || (path !== "/v1/messages" && !counting))
      return refuse(response, 404, `Not found: ${path}`);
    if (body === undefined) return refuse(response, 400, "The request body is not valid JSON");
    const request = checkRequest(body, counting);
    if (typeof request === "string") return refuse(response, 400, request);
    if (counting) return answer(response, { input_tokens: countInput(request) });
    const line = nextLine(request);
    if (!line) return refuse(response, 400, "demo model: the script has run out of lines");
    await play(request, line, text, response);
  }

  async function play(
    request: MessagesRequest,
    line: ScriptLine,
    seed: string,
    response: ServerResponse,
  ): Promise<void> {
    if (isFault(line) && typeof line.fault === "number")
      return refuse(response, line.fault, line.message, line.retryAfter);
    if (isFault(line) && line.fault === "hang" && (line.afterTokens ?? 0) === 0) return;
    const usage = countUsage(request);
    const how = { usage: { ...usage } satisfies InputUsage, latencyMs: options.latencyMs ?? 0 };
    const reply = replyOf(isFault(line) ? {} : withinLimit(line, request), request.model, seed);
    if (isFault(line)) return streamFault(response, reply, line as FaultLine, how);
    return request.stream ? streamReply(response, reply, how) : answer(response, replyJson(reply, how.usage));
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    push: (...more) => void lines.push(...more),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A stand-in has no use for long replies, but `max_tokens` must hold all the same. */
function withinLimit(line: ReplyLine, request: MessagesRequest): ReplyLine {
  const most = request.max_tokens * 4;
  if (line.calls || line.stop || (line.text ?? "").length <= most) return line;
  return { ...line, text: (line.text ?? "").slice(0, most).toWellFormed(), stop: "max_tokens" };
}

const models: JsonObject = {
  data: [
    { type: "model", id: "demo", display_name: "Demo (rule-based, not an LLM)", created_at: "2026-01-01T00:00:00Z" },
  ],
  has_more: false,
  first_id: "demo",
  last_id: "demo",
};

const errorTypes: { [status: number]: string } = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

function refuse(response: ServerResponse, status: number, message?: string, retryAfter?: string | number): void {
  const type = errorTypes[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  if (retryAfter !== undefined) response.setHeader("retry-after", String(retryAfter));
  const error = { type, message: message ?? type.replaceAll("_", " ") };
  answer(response, { type: "error", error, request_id: String(response.getHeader("request-id") ?? "") }, status);
}

function answer(response: ServerResponse, body: Json, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function readBody(incoming: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxBodyBytes) chunks.push(chunk);
  }
  return bytes > maxBodyBytes ? null : Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): Json | undefined {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return undefined;
  }
}
