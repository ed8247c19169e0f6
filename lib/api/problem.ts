// Anything thrown -> a problem (RFC 9457). `type` is `urn:baton:error:<code>`: a stable name without a host, since
// the same runtime answers under many; docs/errors has a page for each code.
import { HTTPException } from "hono/http-exception";
import { BatonError, type ErrorKind, errorTable, type FieldError } from "../core/errors.ts";
import type { Deps } from "../steps/deps.ts";

export type Problem = {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  errors?: FieldError[];
};

/** Seconds told to a client that should try again, when nothing better is known. */
const retryAfterSeconds = 1;

/** The answer for `error`. What is unexpected is said in general words with an id, under which the log has it. */
export function problemResponse(
  error: unknown,
  deps: Pick<Deps, "log" | "ids">,
  headers: Record<string, string> = {},
): Response {
  const problem = toProblem(error) ?? unexpected(error, deps);
  if (error instanceof BatonError && problem.status === 500) deps.log.error("request failed", { code: problem.code });
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      "Content-Type": "application/problem+json",
      "Cache-Control": "no-store",
      ...(problem.status === 503 ? { "Retry-After": String(secondsOf(error)) } : {}),
      ...headers,
    },
  });
}

function toProblem(error: unknown): Problem | null {
  if (error instanceof BatonError) {
    const { name, disposition, code, status } = error;
    const kind = { name, disposition, code, status: disposition === "Transient" ? 503 : status };
    return problem(kind, error.message, error.errors);
  }
  if (error instanceof HTTPException) {
    const kind = [...errorTable.values()].find((leaf) => leaf.disposition === "Misuse" && leaf.status === error.status);
    return kind ? problem(kind, error.message) : null;
  }
  return null;
}

function problem({ name, code, status }: ErrorKind, detail: string, errors?: FieldError[]): Problem {
  const words = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return { type: `urn:baton:error:${code}`, title: words, status, code, detail, ...(errors ? { errors } : {}) };
}

function unexpected(error: unknown, deps: Pick<Deps, "log" | "ids">): Problem {
  const errorId = deps.ids.uuid();
  deps.log.error("unexpected error in a request", {
    errorId,
    name: error instanceof Error ? error.name : typeof error,
    at: error instanceof Error ? frames(error) : "",
  });
  const kind: ErrorKind = { name: "Unexpected", disposition: "Terminal", code: "unexpected", status: 500 };
  return problem(kind, `Something unexpected happened; the log has it under ${errorId}.`);
}

/** Where it was thrown, without the message: that may hold what a user wrote (G20). */
function frames(error: Error): string {
  const lines = (error.stack ?? "").split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line.startsWith("at "))
    .slice(0, 4)
    .join(" < ");
}

function secondsOf(error: unknown): number {
  const ms = error instanceof BatonError ? error.retryAfterMs : undefined;
  return ms === undefined ? retryAfterSeconds : Math.max(1, Math.ceil(ms / 1000));
}
