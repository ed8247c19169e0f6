// GET /v1/sessions/{id}/checkpoints and /{version}: the versions one can look at, fork from and roll back to.
import { createRoute, z } from "@hono/zod-openapi";
import { InvalidInput } from "../../core/errors.ts";
import { readCheckpoint, readCheckpoints, versionCursor } from "../../sessions/events.ts";
import type { RouteModule } from "../api-context.ts";
import { cursor, pageLimit, sessionParam, versionNumber } from "../input-schemas.ts";
import { responses, secured } from "../responses.ts";
import { checkpoint, checkpointRow, pageOf } from "../shapes.ts";

const defaultLimit = 100;

const list = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/checkpoints",
  summary: "Versions in order, without content",
  security: secured,
  request: {
    params: sessionParam,
    query: z.strictObject({ after: versionNumber.optional(), cursor: cursor.optional(), limit: pageLimit }),
  },
  responses: responses({ 200: ["A page", pageOf(checkpointRow)] }, 404),
});

const one = createRoute({
  method: "get",
  path: "/v1/sessions/{id}/checkpoints/{version}",
  summary: "One version: its event, the session as it stood, the stored snapshot",
  security: secured,
  request: { params: sessionParam.extend({ version: versionNumber }), query: z.strictObject({}) },
  responses: responses({ 200: ["The checkpoint", checkpoint] }, 404),
});

export const checkpointRoutes: RouteModule = (app, { deps }) => {
  app.openapi(list, async (c) => {
    const { tenant } = c.get("caller");
    const { after, cursor, limit = defaultLimit } = c.req.valid("query");
    if (after !== undefined && cursor !== undefined) {
      throw new InvalidInput("give either after or cursor", { errors: [{ path: "$.cursor", message: "or after" }] });
    }
    const from = cursor === undefined ? (after ?? 0) : versionCursor(cursor);
    return c.json(await readCheckpoints(deps, tenant, c.req.valid("param").id, { after: from, limit }), 200);
  });
  app.openapi(one, async (c) => {
    const { tenant } = c.get("caller");
    const { id, version } = c.req.valid("param");
    return c.json((await readCheckpoint(deps, tenant, id, version)) as object, 200);
  });
};
