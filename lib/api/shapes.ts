// The shapes of answers as schemas, for openapi.json; a test holds every real answer against them. The values
// themselves come from lib/sessions.
import { z } from "@hono/zod-openapi";
import { handoffRecord } from "../core/handoff.ts";

const time = z.iso.datetime().openapi({ example: "2026-05-05T14:30:22.000Z" });
const count = z.int().nonnegative();
const json = z.unknown();
const errorRecord = z.strictObject({ name: z.string(), code: z.string(), message: z.string() });

export const problem = z
  .strictObject({
    type: z.string().openapi({ example: "urn:baton:error:input.invalid" }),
    title: z.string(),
    status: z.int(),
    code: z.string().openapi({ description: "Stable; docs/errors has a page for each." }),
    detail: z.string(),
    errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
  })
  .openapi("Problem");

export const usage = z
  .strictObject({
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    usd: z.string().openapi({ example: "0.012345" }),
    usdMicros: z.int(),
  })
  .openapi("Usage");

export const sessionStatus = z.enum(["created", "running", "paused", "completed", "failed", "suspended", "closed"]);
const turnStatus = z.enum(["initiated", "processing", "waiting_for_input", "completed", "error"]);
const caused = z.strictObject({ cause: z.string(), at: time });
const effect = z.enum(["read", "idempotent", "once"]);
const approvalKind = z.enum(["call", "in_doubt"]);

export const session = z
  .strictObject({
    id: z.string(),
    key: z.string(),
    tenant: z.string(),
    user: z.string(),
    agent: z.string(),
    status: sessionStatus,
    version: count,
    turn: count,
    turnStatus: turnStatus.optional(),
    createdAt: time,
    lastUserAt: time,
    title: z.string(),
    parent: z.strictObject({ sessionId: z.string(), version: count }).optional(),
    closedBy: z.string().optional(),
    resumePending: caused.optional(),
    suspended: caused.optional(),
    usage,
  })
  .openapi("Session");

export const step = z
  .strictObject({
    step: count,
    version: count,
    kind: z.enum(["thought", "action", "observation", "final"]),
    status: z.enum(["pending", "executing", "success", "failed", "cancelled"]),
    name: z.string().optional(),
    content: z.array(json),
    output: json.optional(),
    error: errorRecord.optional(),
    startedAt: time,
    finishedAt: time.optional(),
    durationMs: count.optional(),
    usage: usage.optional(),
    round: count.optional(),
    model: z.string().optional(),
    callId: z.string().optional(),
    effect: effect.optional(),
    attempts: count.optional(),
    approval: z.strictObject({ id: z.string(), kind: approvalKind, status: z.string() }).optional(),
    skipped: z.literal(true).optional(),
    rolledBack: z.literal(true).optional(),
  })
  .openapi("Step");

const message = z.strictObject({ messageId: z.string(), at: time, user: z.string(), via: z.string() });
const notice = z.strictObject({ kind: z.string(), reason: z.string(), parent: z.string().optional() });

export const turn = z
  .strictObject({
    turn: count,
    status: turnStatus,
    input: z.array(json),
    messages: z.array(message.extend({ receipt: z.enum(["started", "completed", "cancelled"]) })),
    notice: notice.optional(),
    answer: z.string().optional(),
    startedAt: time,
    finishedAt: time.optional(),
    durationMs: count.optional(),
    endReason: z.string().optional(),
    error: errorRecord.optional(),
    usage,
    rolledBack: z.literal(true).optional(),
    steps: z.array(step),
  })
  .openapi("Turn");

export const approvalStatus = z.enum(["pending", "approved", "rejected", "expired", "cancelled"]);

export const approval = z
  .strictObject({
    id: z.string(),
    sessionId: z.string(),
    turn: count.optional(),
    tool: z.string(),
    input: json.openapi({ description: "What would run now: as an approver changed it, else as asked for" }),
    inputHash: z.string(),
    requestedBy: z.string(),
    approvers: z.array(z.string()),
    quorum: count.optional(),
    status: approvalStatus,
    requestedAt: time,
    expiresAt: time,
    settledAt: time.optional(),
    decisions: z.array(
      z.strictObject({
        by: z.string(),
        decision: z.enum(["approve", "reject", "happened", "not_happened", "give_up"]),
        at: time,
        comment: z.string().optional(),
        via: z.enum(["link", "code", "signin"]),
        superseded: z.literal(true).optional(),
      }),
    ),
    kind: approvalKind,
    verdict: z.enum(["happened", "not_happened", "give_up"]).optional(),
    edited: z.strictObject({ by: z.string(), at: time, from: json }).optional(),
    cancelReason: z.string().optional(),
  })
  .openapi("Approval");

export const tree = z
  .strictObject({
    session,
    turns: z.array(turn),
    waiting: z.array(
      message.extend({ receipt: z.literal("queued"), position: count, mode: z.literal("steer").optional() }),
    ),
    handoff: handoffRecord.nullable(),
    approvals: z.array(approval),
    openCalls: z.array(
      z.strictObject({
        index: count,
        callId: z.string(),
        tool: z.string(),
        effect,
        status: z.enum(["pending", "asking", "started"]),
        attempts: count,
        leaseUntil: time.optional(),
        approvalId: z.string().optional(),
      }),
    ),
  })
  .openapi("Tree");

const place = { version: count, turn: count, step: count, type: z.string(), at: time };
const facts = z.record(z.string(), json);
const chain = { writer: z.string(), hash: z.string(), prevHash: z.string() };

export const event = z.strictObject({ ...place, data: facts }).openapi("Event");
export const checkpointRow = z.strictObject({ ...place, ...chain }).openapi("CheckpointRow");
export const checkpoint = z
  .strictObject({ ...place, ...chain, data: facts, session, snapshot: facts })
  .openapi("Checkpoint");

export const accepted = z
  .strictObject({
    key: z.string(),
    sessionId: z.string(),
    turn: count,
    messageId: z.string(),
    status: z.enum(["started", "queued"]),
    position: count.optional(),
    notice: notice.optional(),
    turnStatus: z.literal("waiting_for_input").optional(),
  })
  .openapi("Accepted");

export const settled = accepted
  .extend({
    status: z.enum(["completed", "error"]),
    endReason: z.string(),
    answer: z.string(),
    version: count,
  })
  .openapi("Settled");

/** A chat command: done and answered without the model. `sessionId` is "" when there is no session yet. */
export const answered = accepted
  .extend({ status: z.literal("completed"), command: z.string(), answer: z.string() })
  .openapi("Answered");

export const tenantStop = z
  .strictObject({ reason: z.string(), by: z.string(), at: time, stopped: count })
  .openapi("TenantStop");

export function pageOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: z.array(item), cursor: z.string().optional() });
}
