// GET /v1/export/sessions/{id}, POST /v1/import, DELETE /v1/sessions/{id}: a session leaves, comes, or goes for good.
import { createRoute, z } from "@hono/zod-openapi";
import { sessionHead } from "../../sessions/session-head.ts";
import { eraseSession } from "../../sessions/transfer/erase-session.ts";
import { exportLines } from "../../sessions/transfer/export-lines.ts";
import { importSession } from "../../sessions/transfer/import-session.ts";
import type { RouteModule } from "../api-context.ts";
import { factScope } from "../fact-scope.ts";
import { sessionParam } from "../input-schemas.ts";
import { linesPath, readLinesBody } from "../read-body.ts";
import { responses, secured } from "../responses.ts";

/** A session of 10,000 rounds is about 50 MB of lines. */
const maxImportBytes = 256 * 1024 * 1024;

const imported = z
  .object({
    sessionId: z.string(),
    key: z.string(),
    versions: z.int(),
    written: z.int(),
    problems: z.array(z.object({ line: z.int(), message: z.string() })),
  })
  .openapi("Imported");

const importRoute = createRoute({
  method: "post",
  path: linesPath,
  summary: "Bring an exported session in (JSON lines); an open turn waits for resume",
  security: secured,
  request: { query: z.strictObject({}) },
  responses: responses({ 200: ["What was taken, and what was wrong", imported] }, 403, 409, 413),
});

const eraseRoute = createRoute({
  method: "delete",
  path: "/v1/sessions/{id}",
  summary: "Erase a session for good",
  security: secured,
  request: {
    params: sessionParam,
    query: z.strictObject({
      facts: z
        .enum(["keep", "erase"])
        .default("keep")
        .openapi({ description: "What was learnt from it about its user; erase: only by that user" }),
    }),
  },
  responses: { ...responses({}, 403, 404, 409), 204: { description: "Erased" } },
});

const exportRoute = createRoute({
  method: "get",
  path: "/v1/export/sessions/{id}",
  summary: "A session as JSON lines: header, checkpoints with their hash chain, approvals, end",
  security: secured,
  request: { params: sessionParam, query: z.strictObject({}) },
  responses: {
    ...responses({}, 404),
    200: { description: "JSON lines", content: { "application/x-ndjson": { schema: z.string() } } },
  },
});

export const transferRoutes: RouteModule = (app, { deps }) => {
  app.openapi(exportRoute, async (c) => {
    const { tenant } = c.get("caller");
    const { id } = c.req.valid("param");
    const lines = exportLines(deps, tenant, id)[Symbol.asyncIterator]();
    // The first line is read before the answer begins, so that an unknown id is a 404 and not a broken body.
    let next = await lines.next();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (next.done) return controller.close();
        controller.enqueue(new TextEncoder().encode(next.value));
        next = await lines.next();
      },
    });
    const headers = {
      "Content-Type": "application/x-ndjson",
      "Content-Disposition": `attachment; filename="${id}.jsonl"`,
    };
    return new Response(body, { headers }) as never;
  });
  app.openapi(importRoute, async (c) => {
    const text = await readLinesBody(c.req.raw, maxImportBytes);
    return c.json(await importSession(deps, c.get("caller").tenant, text), 200);
  });
  app.openapi(eraseRoute, async (c) => {
    const caller = c.get("caller");
    const { id } = c.req.valid("param");
    const facts = c.req.valid("query").facts === "erase";
    if (facts) factScope(caller, (await sessionHead(deps, caller.tenant, id)).state.user);
    await eraseSession(deps, caller.tenant, id, { facts });
    return c.body(null, 204);
  });
};
