// The HTTP API as one web-standard app, Request -> Response: hosted by the embedded runtime and by the API Lambda.
// Every error becomes a problem (RFC 9457); nothing that a client sends gives a 5xx.
import { OpenAPIHono } from "@hono/zod-openapi";
import { methodNotAllowed } from "hono/method-not-allowed";
import { MethodNotAllowed, NotFound } from "../core/errors.ts";
import type { Deps } from "../steps/deps.ts";
import {
  type ApiEnv,
  type ApiInfo,
  type ApiLimits,
  type Authenticate,
  defaultApiLimits,
  type RouteModule,
} from "./api-context.ts";
import { bearer } from "./bearer.ts";
import { invalidInput } from "./invalid-input.ts";
import { problemResponse } from "./problem.ts";
import { readBody } from "./read-body.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { approveLinkRoutes } from "./routes/approve-link.ts";
import { checkpointRoutes } from "./routes/checkpoints.ts";
import { controlRoutes } from "./routes/control.ts";
import { eventRoutes } from "./routes/events.ts";
import { factRoutes } from "./routes/facts.ts";
import { messageRoutes } from "./routes/messages.ts";
import { metaRoutes } from "./routes/meta.ts";
import { sessionRoutes } from "./routes/sessions.ts";
import { taskRoutes } from "./routes/tasks.ts";
import { tenantStopRoutes } from "./routes/tenant-stop.ts";
import { transferRoutes } from "./routes/transfer.ts";
import { usageRoutes } from "./routes/usage.ts";
import { securityHeaders } from "./security-headers.ts";

export type ApiOptions = {
  deps: Deps;
  authenticate: Authenticate;
  info: ApiInfo;
  limits?: Partial<ApiLimits>;
  /** Further areas, mounted after the API's own. @default none */
  routes?: RouteModule[];
};

/** `env`: what the host knows about the connection (@hono/node-server, hono/aws-lambda). */
export type Api = { fetch(request: Request, env?: object): Promise<Response> };

const ownRoutes: RouteModule[] = [
  messageRoutes,
  sessionRoutes,
  eventRoutes,
  checkpointRoutes,
  controlRoutes,
  tenantStopRoutes,
  approvalRoutes,
  approveLinkRoutes,
  transferRoutes,
  taskRoutes,
  factRoutes,
  metaRoutes,
  usageRoutes,
];

export function createApi(options: ApiOptions): Api {
  const { deps, info } = options;
  const limits = { ...defaultApiLimits, ...options.limits };
  const app = new OpenAPIHono<ApiEnv>({
    defaultHook: (result) => {
      if (!result.success) throw invalidInput(result.error);
    },
  });
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  app.onError((error) => problemResponse(error, deps));
  app.notFound(() => problemResponse(new NotFound("no such path"), deps));
  app.use(securityHeaders);
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) => {
        const error = new MethodNotAllowed(`${c.req.method} is not possible here; ${methods.join(", ")} is`);
        return problemResponse(error, deps, { Allow: methods.join(", ") });
      },
    }),
  );
  app.use("/v1/*", bearer(options.authenticate, deps));
  app.use("/v1/*", readBody(limits));
  for (const mount of [...ownRoutes, ...(options.routes ?? [])]) mount(app, { deps, info, limits });
  return {
    async fetch(request, env) {
      try {
        return await app.fetch(request, env);
      } catch (error) {
        return problemResponse(error, deps);
      }
    },
  };
}
