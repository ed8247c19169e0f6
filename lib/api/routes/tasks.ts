// Batch tasks: define, list, run, see the runs, remove; and events from outside that start them.
import { createRoute, z } from "@hono/zod-openapi";
import { listRuns } from "../../batch/list-runs.ts";
import { putTask, taskInput } from "../../batch/put-task.ts";
import { runNow } from "../../batch/run-now.ts";
import { takeEvent } from "../../batch/take-event.ts";
import { viewRun, viewTask } from "../../batch/task-view.ts";
import { agentName } from "../../core/define-agent.ts";
import { NotFound } from "../../core/errors.ts";
import type { RouteModule } from "../api-context.ts";
import { cursor, pageLimit, text } from "../input-schemas.ts";
import { responses, secured } from "../responses.ts";
import { pageOf } from "../shapes.ts";
import { run, task } from "../task-shapes.ts";

const defaultLimit = 50;
const named = z.object({ name: z.string().openapi({ example: "daily-report" }) });
const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, "1 to 255 visible ASCII characters")
  .optional();

const put = createRoute({
  method: "post",
  path: "/v1/tasks",
  summary: "Define a task, or define it anew",
  security: secured,
  request: {
    query: z.strictObject({}),
    body: { required: true, content: { "application/json": { schema: taskInput.openapi("TaskInput") } } },
  },
  responses: responses({ 200: ["Defined anew; its schedule goes on", task], 201: ["Defined", task] }),
});

const list = createRoute({
  method: "get",
  path: "/v1/tasks",
  summary: "List tasks, by name",
  security: secured,
  request: { query: z.strictObject({}) },
  responses: responses({ 200: ["All of them", pageOf(task)] }),
});

const remove = createRoute({
  method: "delete",
  path: "/v1/tasks/{name}",
  summary: "Remove a task; runs go on, and their records stay",
  security: secured,
  request: { params: named, query: z.strictObject({}) },
  responses: responses({ 200: ["The task as it was", task] }, 404),
});

const runs = createRoute({
  method: "get",
  path: "/v1/tasks/{name}/runs",
  summary: "The slots of a task, newest first: what ran, what was skipped and why",
  security: secured,
  request: { params: named, query: z.strictObject({ limit: pageLimit, cursor: cursor.optional() }) },
  responses: responses({ 200: ["A page", pageOf(run)] }, 404),
});

const start = createRoute({
  method: "post",
  path: "/v1/tasks/{name}/run",
  summary: "Run a task now, besides its schedule",
  security: secured,
  request: { params: named, query: z.strictObject({}), headers: z.object({ "Idempotency-Key": idempotencyKey }) },
  responses: responses({ 202: ["Its run", run] }, 404),
});

const eventName = text.min(1).max(256);
const send = createRoute({
  method: "post",
  path: "/v1/events",
  summary: "Tell an event: a run of each task that waits for its kind, once for one id",
  security: secured,
  request: {
    query: z.strictObject({}),
    body: {
      required: true,
      content: {
        "application/json": {
          schema: z
            .strictObject({
              id: eventName,
              source: eventName,
              detailType: eventName,
              detail: z.json().openapi({ type: "object", description: "Any JSON" }).default({}),
            })
            .openapi("OutsideEvent"),
        },
      },
    },
  },
  responses: responses({
    202: [
      "The runs that stand for it",
      z.strictObject({ runs: z.array(z.strictObject({ task: z.string(), slot: z.string(), run: z.string() })) }),
    ],
  }),
});

const secret = createRoute({
  method: "get",
  path: "/v1/webhook-secret",
  summary: "What signatures of webhooks are checked with (Standard Webhooks)",
  security: secured,
  request: { query: z.strictObject({}) },
  responses: responses({ 200: ["Yours alone; keep it secret", z.strictObject({ secret: z.string() })] }),
});

export const taskRoutes: RouteModule = (app, { deps }) => {
  app.openapi(put, async (c) => {
    const { stored, result } = await putTask(deps, c.get("caller"), c.req.valid("json"));
    return c.json(viewTask(stored) as object, result === "created" ? 201 : 200);
  });
  app.openapi(list, async (c) => {
    const items = await deps.store.tasks.list(c.get("caller").tenant);
    return c.json({ items: items.map(viewTask) } as object, 200);
  });
  app.openapi(remove, async (c) => {
    const { tenant } = c.get("caller");
    const name = known(c.req.valid("param").name);
    const stored = await deps.store.tasks.get(tenant, name);
    if (!stored) throw new NotFound("no such task");
    await deps.store.tasks.remove(tenant, name);
    return c.json(viewTask(stored) as object, 200);
  });
  app.openapi(runs, async (c) => {
    const { limit = defaultLimit, ...page } = c.req.valid("query");
    const at = { tenant: c.get("caller").tenant, name: known(c.req.valid("param").name) };
    return c.json((await listRuns(deps, at, { limit, ...page })) as object, 200);
  });
  app.openapi(start, async (c) => {
    const at = { tenant: c.get("caller").tenant, name: known(c.req.valid("param").name) };
    const slot = await runNow(deps, at, c.req.valid("header")["Idempotency-Key"]);
    return c.json(viewRun(slot) as object, 202);
  });
  app.openapi(send, async (c) => {
    return c.json({ runs: await takeEvent(deps, c.get("caller").tenant, c.req.valid("json")) }, 202);
  });
  app.openapi(secret, async (c) => {
    return c.json({ secret: deps.webhooks.secretOf(c.get("caller").tenant) }, 200, { "Cache-Control": "no-store" });
  });
};

/** Whatever does not look like a task's name is answered as an unknown one. */
function known(name: string): string {
  if (!agentName.safeParse(name).success) throw new NotFound("no such task");
  return name;
}
