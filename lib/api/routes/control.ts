// POST /v1/sessions/{id}/<action>: control of a session. Each action is one row of the table; all of them answer the
// session as it stands afterwards (reset and fork: the new one) and take If-Match.
import { createRoute, z } from "@hono/zod-openapi";
import { compactSession } from "../../sessions/compact-session.ts";
import { stopSession } from "../../sessions/control.ts";
import { resetSession } from "../../sessions/reset-session.ts";
import { resumeSession } from "../../sessions/resume-session.ts";
import { sessionHead } from "../../sessions/session-head.ts";
import { viewSession } from "../../sessions/session-view.ts";
import { forkSession } from "../../sessions/time-travel/fork-session.ts";
import { retrySession } from "../../sessions/time-travel/retry-session.ts";
import { rollbackSession } from "../../sessions/time-travel/rollback-session.ts";
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
  control(app, context, {
    action: "resume",
    summary: "Go on with a suspended or interrupted session",
    body: nothing,
    run: resumeSession,
  });
  control(app, context, {
    action: "reset",
    summary: "Close the session and open a clean one for its key; answers the new one",
    body: nothing,
    run: resetSession,
  });
  control(app, context, {
    action: "compact",
    summary: "Summarise the conversation before the next model call",
    body: nothing,
    run: compactSession,
  });
  control(app, context, {
    action: "rollback",
    summary: "Go on from an earlier version; what came later stays in the log and leaves the context",
    body: atVersion,
    run: rollbackSession,
  });
  control(app, context, {
    action: "retry",
    summary: "Back to before the step that failed, and on from there",
    body: nothing,
    run: retrySession,
  });
  control(app, context, {
    action: "fork",
    summary: "A new session, under a key of its own, whose past is this one up to a version; answers the new one",
    body: atVersion,
    run: forkSession,
  });
};

const nothing = z.strictObject({});
const atVersion = z.strictObject({ version: z.int().min(1).max(999_999_999_999) });

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
