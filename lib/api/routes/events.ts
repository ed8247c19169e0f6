// GET /v1/sessions/{id}/events: a page of events, or with Accept: text/event-stream all from there on, live.
import { createRoute, z } from "@hono/zod-openapi";
import { InvalidInput } from "../../core/errors.ts";
import { readEvents, versionCursor } from "../../sessions/events.ts";
import { sessionHead } from "../../sessions/session-head.ts";
import type { RouteModule } from "../api-context.ts";
import { eventStream } from "../event-stream.ts";
import { cursor, pageLimit, sessionParam, versionNumber } from "../input-schemas.ts";
import { responses, secured } from "../responses.ts";
import { event, pageOf } from "../shapes.ts";

const defaultLimit = 100;

const route = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/events",
  summary: "Events in order; with Accept: text/event-stream a live stream",
  description:
    "The stream's event id is the version, its event name the type. Last-Event-ID (or ?after) goes on where a client " +
    "left. Without id come `live` (caught up with the log), `text` and `progress`. The stream ends only with the client.",
  security: secured,
  request: {
    params: sessionParam,
    query: z.strictObject({ after: versionNumber.optional(), cursor: cursor.optional(), limit: pageLimit }),
    headers: z.object({ "Last-Event-ID": versionNumber.optional() }),
  },
  responses: responses({ 200: ["A page", pageOf(event)] }, 404),
});

export const eventRoutes: RouteModule = (app, { deps }) => {
  app.openapi(route, async (c) => {
    const { tenant } = c.get("caller");
    const { id } = c.req.valid("param");
    const query = c.req.valid("query");
    if (query.after !== undefined && query.cursor !== undefined) {
      throw new InvalidInput("give either after or cursor", { errors: [{ path: "$.cursor", message: "or after" }] });
    }
    const asked = query.cursor === undefined ? (query.after ?? 0) : versionCursor(query.cursor);
    if (!c.req.header("Accept")?.toLowerCase().includes("text/event-stream")) {
      return c.json(await readEvents(deps, tenant, id, { after: asked, limit: query.limit ?? defaultLimit }), 200);
    }
    await sessionHead(deps, tenant, id);
    const after = c.req.valid("header")["Last-Event-ID"] ?? asked;
    const { signal, method } = c.req.raw;
    const headers = { "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no" };
    return new Response(method === "HEAD" ? null : eventStream({ deps, tenant, sessionId: id, after, signal }), {
      headers,
    });
  });
};
