// The `responses` part of a route for openapi.json.
import type { RouteConfig } from "@hono/zod-openapi";
import type { z } from "zod";
import { problem } from "./shapes.ts";

const problems: Record<number, string> = {
  400: "Bad input, with the path of the field",
  401: "No valid token",
  402: "Over budget",
  403: "Not for this person to decide",
  404: "Unknown here: no such thing, or another tenant's",
  409: "Not possible in this state",
  410: "Its time is over, or it was cancelled",
  412: "If-Match names another version",
  413: "Too large",
  422: "The Idempotency-Key was used for another request",
  503: "Try again after Retry-After",
};

/** Success shapes by status, and the problems that may come instead (400, 401, 413 and 503 always). */
export function responses(success: Record<number, [string, z.ZodType]>, ...others: number[]): RouteConfig["responses"] {
  const found: RouteConfig["responses"] = {};
  for (const [status, [description, schema]] of Object.entries(success)) {
    found[Number(status)] = { description, content: { "application/json": { schema } } };
  }
  for (const status of [400, 401, 413, 503, ...others].toSorted((a, b) => a - b)) {
    const description = problems[status] ?? "Problem";
    found[status] = { description, content: { "application/problem+json": { schema: problem } } };
  }
  return found;
}

export const secured = [{ bearer: [] }];
