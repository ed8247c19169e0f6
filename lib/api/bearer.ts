// Bearer token -> tenant and user (RFC 6750). Nothing else in a request says who calls.
import type { MiddlewareHandler } from "hono";
import { Unauthenticated } from "../core/errors.ts";
import type { Deps } from "../steps/deps.ts";
import type { ApiEnv, Authenticate } from "./api-context.ts";
import { problemResponse } from "./problem.ts";

const maxTokenLength = 8192;

export function bearer(authenticate: Authenticate, deps: Pick<Deps, "log" | "ids">): MiddlewareHandler<ApiEnv> {
  const refuse = (detail: string, challenge: string) =>
    problemResponse(new Unauthenticated(detail), deps, { "WWW-Authenticate": `Bearer realm="baton"${challenge}` });
  return async (c, next) => {
    const header = c.req.header("Authorization");
    if (header === undefined) return refuse("send a token: Authorization: Bearer <token>", "");
    const token = /^Bearer +([^\s,]+)$/i.exec(header.trim())?.[1];
    const caller = token && token.length <= maxTokenLength ? await authenticate(token) : null;
    if (!caller) return refuse("the token is not valid or has expired", ', error="invalid_token"');
    c.set("caller", caller);
    await next();
  };
}
