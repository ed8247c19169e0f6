// GET /v1/sessions and GET /v1/sessions/{id}.
import { createRoute, z } from "@hono/zod-openapi";
import { listSessions } from "../../sessions/list.ts";
import { sessionTree } from "../../sessions/tree.ts";
import type { RouteModule } from "../api-context.ts";
import { cursor, name, pageLimit, sessionParam } from "../input-schemas.ts";
import { responses, secured } from "../responses.ts";
import { pageOf, session, sessionStatus, tree } from "../shapes.ts";

const defaultLimit = 50;

const list = createRoute({
  method: "get",
  path: "/v1/sessions",
  summary: "List sessions, most recently active first",
  security: secured,
  request: {
    query: z.strictObject({
      status: sessionStatus.optional(),
      key: name.optional(),
      limit: pageLimit,
      cursor: cursor.optional(),
    }),
  },
  responses: responses({ 200: ["A page; it may be short and still have a cursor", pageOf(session)] }),
});

const one = createRoute({
  method: "get",
  path: "/v1/sessions/{id}",
  summary: "A session rebuilt from its events: turns, steps, versions",
  security: secured,
  request: { params: sessionParam, query: z.strictObject({}) },
  responses: responses({ 200: ["The tree; ETag is the version, for If-Match", tree] }, 404),
});

export const sessionRoutes: RouteModule = (app, { deps }) => {
  app.openapi(list, async (c) => {
    const { tenant } = c.get("caller");
    const { limit = defaultLimit, ...filter } = c.req.valid("query");
    return c.json(await listSessions(deps, tenant, { limit, ...filter }), 200);
  });
  app.openapi(one, async (c) => {
    const { tenant } = c.get("caller");
    const found = await sessionTree(deps, tenant, c.req.valid("param").id);
    return c.json(found as object, 200, { ETag: `"${found.session.version}"` });
  });
};
