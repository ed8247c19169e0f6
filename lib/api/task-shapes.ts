// The shapes of tasks and their runs for openapi.json.
import { z } from "@hono/zod-openapi";
import { deliverTo } from "../delivery/deliver-to.ts";

const time = z.iso.datetime().openapi({ example: "2026-05-05T14:30:22.000Z" });
const count = z.int().nonnegative();

export const task = z
  .strictObject({
    name: z.string(),
    agent: z.string(),
    prompt: z.string(),
    schedule: z.strictObject({ cron: z.string(), timeZone: z.string() }).optional(),
    on: z.strictObject({ source: z.string(), detailType: z.string() }).optional(),
    catchUp: z.enum(["none", "once"]),
    deliverTo: deliverTo.optional(),
    user: z.string(),
    createdAt: time,
    updatedAt: time,
    nextAt: time.optional(),
  })
  .openapi("Task");

export const run = z
  .strictObject({
    slot: z.string(),
    kind: z.enum(["schedule", "event", "manual"]),
    status: z.enum(["due", "claimed", "done", "skipped"]),
    at: time,
    reason: z.string().optional(),
    sessionId: z.string().optional(),
    turn: count.optional(),
    outcome: z.enum(["completed", "error"]).optional(),
    endReason: z.string().optional(),
    startedAt: time.optional(),
    finishedAt: time.optional(),
    count: count.optional(),
    until: time.optional(),
    delivery: z
      .strictObject({ status: z.enum(["open", "sent", "failed"]), attempts: count, reason: z.string().optional() })
      .optional(),
  })
  .openapi("Run");
