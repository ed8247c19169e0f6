// Long-term memory as its user sees it: list, correct, delete.
import { createRoute, z } from "@hono/zod-openapi";
import { factKinds, maxFactChars } from "../../core/memory.ts";
import { correctFact, deleteFact, listFacts } from "../../memory/user-facts.ts";
import type { RouteModule } from "../api-context.ts";
import { factScope, factsAdminScope } from "../fact-scope.ts";
import { name, text } from "../input-schemas.ts";
import { responses, secured } from "../responses.ts";
import { pageOf } from "../shapes.ts";

const time = z.iso.datetime().openapi({ example: "2026-05-05T14:30:22.000Z" });
const fact = z
  .strictObject({
    id: z.string(),
    text: z.string(),
    kind: z.enum(factKinds),
    source: z.strictObject({ sessionId: z.string(), turn: z.int() }),
    origin: z.enum(["user", "agent", "tool"]),
    validFrom: time,
    validTo: time.optional(),
    replacedBy: z.string().optional(),
    correctedAt: time.optional(),
  })
  .openapi("Fact");

const user = name
  .optional()
  .openapi({ description: `Another user than the caller; needs the scope ${factsAdminScope}` });
const id = z.object({ id: z.string().openapi({ example: "3f9c1a7be20d4c5f8a61" }) });

const list = createRoute({
  method: "get",
  path: "/v1/facts",
  summary: "What is remembered about a user, newest first",
  security: secured,
  request: { query: z.strictObject({ user, include: z.enum(["valid", "all"]).default("valid") }) },
  responses: responses({ 200: ["All of them", pageOf(fact)] }, 403),
});

const correct = createRoute({
  method: "patch",
  path: "/v1/facts/{id}",
  summary: "Correct a fact",
  security: secured,
  request: {
    params: id,
    query: z.strictObject({ user }),
    body: {
      required: true,
      content: {
        "application/json": { schema: z.strictObject({ text: text.max(maxFactChars) }).openapi("FactCorrection") },
      },
    },
  },
  responses: responses({ 200: ["As it stands now", fact] }, 403, 404, 409),
});

const remove = createRoute({
  method: "delete",
  path: "/v1/facts/{id}",
  summary: "Delete a fact for good",
  security: secured,
  request: { params: id, query: z.strictObject({ user }) },
  responses: { ...responses({}, 403, 404), 204: { description: "Deleted" } },
});

export const factRoutes: RouteModule = (app, { deps }) => {
  app.openapi(list, async (c) => {
    const { user, include } = c.req.valid("query");
    const items = await listFacts(deps, factScope(c.get("caller"), user), { all: include === "all" });
    return c.json({ items }, 200);
  });
  app.openapi(correct, async (c) => {
    const scope = factScope(c.get("caller"), c.req.valid("query").user);
    return c.json(await correctFact(deps, scope, c.req.valid("param").id, c.req.valid("json").text.trim()), 200);
  });
  app.openapi(remove, async (c) => {
    await deleteFact(deps, factScope(c.get("caller"), c.req.valid("query").user), c.req.valid("param").id);
    return c.body(null, 204);
  });
};
