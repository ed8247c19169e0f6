// GET /v1/usage: money and tokens of a day, by session and model.
import { createRoute, z } from "@hono/zod-openapi";
import { usageOfDay } from "../../sessions/usage.ts";
import type { RouteModule } from "../api-context.ts";
import { responses, secured } from "../responses.ts";
import { usage } from "../shapes.ts";

const day = z.iso.date().openapi({ example: "2026-05-05", description: "A UTC day." });

const report = z
  .strictObject({
    day,
    total: usage,
    sessions: z.array(usage.extend({ sessionId: z.string(), key: z.string(), user: z.string(), agent: z.string() })),
    omittedSessions: z.int().nonnegative(),
    models: z.array(usage.extend({ model: z.string() })),
  })
  .openapi("DayUsage");

const route = createRoute({
  method: "get",
  path: "/v1/usage",
  summary: "Money and tokens of a day (default: today, UTC), from finished turns",
  security: secured,
  request: { query: z.strictObject({ day: day.optional() }) },
  responses: responses({ 200: ["The day", report] }),
});

export const usageRoutes: RouteModule = (app, { deps }) => {
  app.openapi(route, async (c) => {
    const { tenant } = c.get("caller");
    return c.json(await usageOfDay(deps, tenant, c.req.valid("query").day), 200);
  });
};
