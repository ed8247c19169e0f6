// POST /v1/sessions/{id}/<action>: control of a session. Each action is one row of the table; all of them answer the
// session as it stands afterwards and take If-Match.
import { createRoute, z } from "@hono/zod-openapi";
import { stopSession } from "../../sessions/control.ts";
import { sessionHead } from "../../sessions/session-head.ts";
import { viewSession } from "../../sessions/session-view.ts";
import type { Deps } from "../../steps/deps.ts";
import type { Head } from "../../store/log.ts";
import type { ApiApp, ApiContext, RouteModule } from "../api-context.ts";
import { sessionParam, text } from "../input-schemas.ts";
import { responses, secured } from "../responses.ts";
import { session } from "../shapes.ts";

type Control<Body extends z.ZodObject> = {
  action: string;
  summary: string;
  body: Body;
  run: (
    deps: Deps,
    at: { tenant: string; sessionId: string; user: string },
    options: z.output<Body> & { ifVersion?: number },
  ) => Promise<Head>;
};

export const controlRoutes: RouteModule = (app, context) => {
  control(app, context, {
    action: "stop",
    summary: "End live work at the next step boundary",
    body: z.strictObject({ reason: text.max(1000).optional() }),
    run: stopSession,
  });
};

/** Mounts one action. For further ones: the same call in a module of their own. */
export function control<Body extends z.ZodObject>(app: ApiApp, { deps }: ApiContext, row: Control<Body>): void {
  const route = createRoute({
    method: "post",
    path: `/v1/sessions/{id}/${row.action}`,
    summary: row.summary,
    security: secured,
    request: {
      params: sessionParam,
      query: z.strictObject({}),
      headers: z.object({ "If-Match": ifMatch }),
      body: { required: true, content: { "application/json": { schema: row.body } } },
    },
    responses: responses({ 200: ["The session afterwards", session] }, 404, 409, 412),
  });
  app.openapi(route, async (c) => {
    const { tenant, user } = c.get("caller");
    const { id } = z.object({ id: z.string() }).parse(c.req.param());
    await sessionHead(deps, tenant, id);
    const version = ifMatch.parse(c.req.header("If-Match"));
    const body = row.body.parse(await c.req.json());
    const options = { ...body, ...(version === undefined ? {} : { ifVersion: version }) };
    const after = await row.run(deps, { tenant, sessionId: id, user }, options);
    return c.json(viewSession(after), 200, { ETag: `"${after.version}"` });
  });
}

/** `"12"` or `12`: only when the session is at this version. `*`: any. */
const ifMatch = z
  .string()
  .regex(/^(?:\*|"\d{1,12}"|\d{1,12})$/, 'a version, as in "12", or *')
  .transform((value) => (value === "*" ? undefined : Number(value.replaceAll('"', ""))))
  .optional()
  .openapi({ type: "string", example: '"12"' });
