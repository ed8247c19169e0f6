// POST /v1/stop and DELETE /v1/stop: all work of the tenant ends at its next step boundary, and nothing starts until
// the stop is lifted.
import { createRoute, z } from "@hono/zod-openapi";
import { iso } from "../../sessions/outside-units.ts";
import { liftTenantStop, stopTenant } from "../../sessions/stop-tenant.ts";
import type { RouteModule } from "../api-context.ts";
import { text } from "../input-schemas.ts";
import { responses, secured } from "../responses.ts";
import { tenantStop } from "../shapes.ts";

const stop = createRoute({
  method: "post",
  path: "/v1/stop",
  summary: "Stop every session of the tenant; messages are refused (409) until it is lifted",
  security: secured,
  request: {
    query: z.strictObject({}),
    body: {
      required: true,
      content: { "application/json": { schema: z.strictObject({ reason: text.max(1000).optional() }) } },
    },
  },
  responses: responses({ 200: ["The stop that stands", tenantStop] }),
});

const lift = createRoute({
  method: "delete",
  path: "/v1/stop",
  summary: "Lift the tenant's stop; its sessions stay suspended until a message or a resume",
  security: secured,
  request: { query: z.strictObject({}) },
  responses: { ...responses({}), 204: { description: "Nothing stops the tenant" } },
});

export const tenantStopRoutes: RouteModule = (app, { deps }) => {
  app.openapi(stop, async (c) => {
    const { at, ...stopped } = await stopTenant(deps, c.get("caller"), c.req.valid("json"));
    return c.json({ ...stopped, at: iso(at) }, 200);
  });
  app.openapi(lift, async (c) => {
    await liftTenantStop(deps, c.get("caller").tenant);
    return c.body(null, 204);
  });
};
