// What went wrong with a model call, by what must happen next. No message holds a key or token (G20).
import { APIConnectionError, APIConnectionTimeoutError, APIError } from "@anthropic-ai/sdk";
import {
  BatonError,
  ModelAuthFailed,
  ModelOverloaded,
  ModelRateLimited,
  ModelRejected,
  ModelStreamCut,
  ModelUnavailable,
} from "../core/errors.ts";
import type { CutStream, Uncharged } from "../ports/model.ts";

export type ErrorContext = {
  /** Keys and tokens to be struck from messages. */
  secrets: readonly string[];
  /** Epoch milliseconds, for a retry-after that is a date. */
  now: () => number;
};

/** Maps anything that the SDK threw. Source: Messages API, "Errors". */
export function toModelError(error: unknown, context: ErrorContext): BatonError {
  if (error instanceof BatonError) return error;
  if (error instanceof APIConnectionTimeoutError) return new ModelUnavailable("the model did not answer in time");
  if (error instanceof APIConnectionError) {
    const unreachable = new ModelUnavailable(redact(`the model cannot be reached: ${causeOf(error)}`, context));
    return neverConnected(error) ? uncharged(unreachable) : unreachable;
  }
  if (!(error instanceof APIError))
    return new ModelUnavailable(redact(`the model call failed: ${causeOf(error)}`, context));
  const Leaf = leafFor(error.status, error.type);
  const request = error.requestID ? ` (request ${error.requestID})` : "";
  const said = (error.apiMessage ?? error.message).slice(0, 2000);
  const retryAfterMs = parseRetryAfter(error.headers, context.now());
  const refusal = new Leaf(redact(`${said}${request}`, context), retryAfterMs === undefined ? {} : { retryAfterMs });
  // An error that came as the status of the answer; without one it came inside a stream, which may have been charged.
  return error.status === undefined ? refusal : uncharged(refusal);
}

function uncharged<T extends BatonError>(error: T): T & Uncharged {
  return Object.assign(error, { uncharged: true as const });
}

/** The request never left: nobody listens there, or the name is not known. */
function neverConnected(error: Error): boolean {
  const codes = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && codes.includes(String(cause.code))) return true;
  }
  return false;
}

/** A stream that ended before its final event; `partial` is kept for the record and never sent to a model. */
export function streamCut(why: string, partial: string): InstanceType<typeof ModelStreamCut> & CutStream {
  return Object.assign(new ModelStreamCut(`the reply was cut: ${why}`), { partial });
}

function leafFor(status: number | undefined, type: string | null) {
  if (status === 529 || type === "overloaded_error") return ModelOverloaded;
  if (status === 429 || type === "rate_limit_error") return ModelRateLimited;
  if (status === 401 || status === 403 || type === "authentication_error" || type === "permission_error") {
    return ModelAuthFailed;
  }
  const passing = ["api_error", "timeout_error", "conflict_error"];
  if (status === undefined) return type === null || passing.includes(type) ? ModelUnavailable : ModelRejected;
  return status >= 500 || status === 408 || status === 409 ? ModelUnavailable : ModelRejected;
}

/**
 * Milliseconds to wait from `retry-after-ms` or `retry-after` (seconds or an HTTP date, RFC 9110 10.2.3);
 * undefined when there is none or it makes no sense, so that the caller's own back-off holds. A date is read
 * against the server's own `date` header where it sent one, since the two clocks may differ.
 */
export function parseRetryAfter(headers: Headers | undefined, nowMs: number): number | undefined {
  const millis = plainNumber(headers?.get("retry-after-ms"));
  if (millis !== undefined) return Math.ceil(millis);
  const text = headers?.get("retry-after")?.trim();
  const seconds = plainNumber(text);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  if (!text || !/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/.test(text)) return undefined;
  const sent = Date.parse(headers?.get("date") ?? "");
  const waitMs = Date.parse(text) - (Number.isNaN(sent) ? nowMs : sent);
  return waitMs >= 0 ? waitMs : undefined;
}

function plainNumber(text: string | null | undefined): number | undefined {
  return text && /^\d{1,10}(\.\d{1,6})?$/.test(text.trim()) ? Number(text) : undefined;
}

function causeOf(error: unknown): string {
  // Its own message quotes what it could not read, which is content.
  if (error instanceof SyntaxError) return "an event of the stream is not JSON";
  if (!(error instanceof Error)) return String(error);
  const cause: unknown = error.cause;
  const deeper = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return deeper instanceof Error ? `${error.message} ${deeper.message}` : error.message;
}

function redact(message: string, { secrets }: ErrorContext): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, "[secret]"), message);
}
