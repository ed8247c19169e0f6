// The network address a request came from, as the host of the API saw it. A header that a client could write
// (X-Forwarded-For) is not asked.
import type { Context } from "hono";

/** Undefined when the host does not say. */
export function clientAddress(c: Context): string | undefined {
  const env = asObject(c.env);
  const socket = asObject(asObject(env.incoming).socket);
  const gateway = asObject(asObject(asObject(env.event).requestContext ?? env.requestContext).http);
  const found = socket.remoteAddress ?? gateway.sourceIp;
  return typeof found === "string" && found !== "" ? found : undefined;
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
