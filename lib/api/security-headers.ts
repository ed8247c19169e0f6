// Headers of every answer that does not bring its own: nothing here is to be framed, sniffed, kept or embedded.
import type { MiddlewareHandler } from "hono";

const defaults: Record<string, string> = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Strict-Transport-Security": "max-age=31536000",
  "Cache-Control": "no-store",
};

export const securityHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(defaults)) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
};
