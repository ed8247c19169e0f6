// GET /healthz and GET /openapi.json: without a token.
import { createRoute, z } from "@hono/zod-openapi";
import { ShuttingDown } from "../../core/errors.ts";
import type { RouteModule } from "../api-context.ts";

const health = createRoute({
  method: "get",
  path: "/healthz",
  summary: "Whether this runtime takes requests",
  responses: {
    200: {
      description: "It does",
      content: {
        "application/json": { schema: z.looseObject({ status: z.literal("ok") }).openapi("Health") },
      },
    },
    503: { description: "It is stopping" },
  },
});

export const metaRoutes: RouteModule = (app, { deps, info }) => {
  app.openapi(health, (c) => {
    if (deps.stopping.aborted) throw new ShuttingDown("this process is stopping");
    return c.json({ ...info, status: "ok" as const }, 200);
  });
  let document: object | undefined;
  app.get("/openapi.json", (c) => {
    document ??= app.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "Baton",
        version: info.version,
        description: "Durable agent sessions. Errors are problems (RFC 9457) with a stable `code`.",
      },
    });
    return c.json(document);
  });
};
