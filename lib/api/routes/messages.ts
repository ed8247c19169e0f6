// POST /v1/messages: accepts a message for a session key, and may wait for the answer.
import { createRoute, z } from "@hono/zod-openapi";
import type { UserContent } from "../../core/content.ts";
import { agentName } from "../../core/define-agent.ts";
import { checkDeliverTo, deliverTo } from "../../delivery/deliver-to.ts";
import { acceptMessage } from "../../sessions/accept.ts";
import { waitForMessage } from "../../sessions/wait.ts";
import type { RouteModule } from "../api-context.ts";
import { name, queryInteger, text } from "../input-schemas.ts";
import { responses, secured } from "../responses.ts";
import { accepted, answered, settled } from "../shapes.ts";

const image = z.strictObject({
  type: z.literal("image"),
  mediaType: z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]),
  data: z.string().min(1).refine(isBase64, "must be base64").openapi({ format: "byte" }),
});
const content = z.array(z.discriminatedUnion("type", [z.strictObject({ type: z.literal("text"), text }), image]));

const message = z
  .strictObject({
    key: name.openapi({ example: "agent:aml:cli:dm:me" }),
    text: text.optional(),
    content: content.min(1).max(100).optional(),
    agent: agentName.optional(),
    busy: z.enum(["enqueue", "steer", "interrupt", "reject"]).optional(),
    deliverTo: deliverTo.optional().openapi({ description: "Where the answer goes besides the log" }),
  })
  .refine(({ text, content }) => (text === undefined) !== (content === undefined), {
    path: ["text"],
    message: "give either text or content",
  })
  .openapi("Message");

const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, "1 to 255 visible ASCII characters")
  .optional();

const route = createRoute({
  method: "post",
  path: "/v1/messages",
  summary: "Send a message",
  security: secured,
  request: {
    query: z.strictObject({ wait: queryInteger({ min: 0, max: 25 }).optional() }),
    headers: z.object({ "Idempotency-Key": idempotencyKey }),
    body: { required: true, content: { "application/json": { schema: message } } },
  },
  responses: responses(
    {
      200: ["The finished turn, or a chat command's answer", z.union([settled, answered])],
      202: ["Accepted and stored", accepted],
    },
    402,
    404,
    409,
    422,
  ),
});

export const messageRoutes: RouteModule = (app, { deps }) => {
  app.openapi(route, async (c) => {
    const { tenant, user } = c.get("caller");
    const { key, agent, busy, deliverTo, ...body } = c.req.valid("json");
    const { wait = 0 } = c.req.valid("query");
    const idempotencyKey = c.req.valid("header")["Idempotency-Key"];
    const blocks: UserContent[] = body.content ?? [{ type: "text", text: body.text ?? "" }];
    if (deliverTo) checkDeliverTo(deliverTo, deps.webhooks);
    const receipt = await acceptMessage(deps, {
      tenant,
      user,
      key,
      content: blocks,
      via: "api",
      ...(agent ? { agent } : {}),
      ...(busy ? { busy } : {}),
      ...(deliverTo ? { deliverTo } : {}),
      ...(idempotencyKey ? { idempotencyKey } : {}),
    });
    const location: Record<string, string> = receipt.sessionId ? { Location: `/v1/sessions/${receipt.sessionId}` } : {};
    // A chat command: nothing is left to wait for.
    if (receipt.status === "completed") return c.json(receipt, 200, location);
    const end = wait > 0 ? await waitForMessage(deps, tenant, receipt, wait * 1000, c.req.raw.signal) : null;
    if (end === "asking") return c.json({ ...receipt, turnStatus: "waiting_for_input" as const }, 202, location);
    return end ? c.json({ ...receipt, ...end }, 200, location) : c.json(receipt, 202, location);
  });
};

function isBase64(data: string): boolean {
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return data.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(data.slice(0, data.length - padding));
}
