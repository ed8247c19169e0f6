// /v1/approvals: for people who are signed in. Deciding goes the same path as the mailed link.
import { createRoute, z } from "@hono/zod-openapi";
import { type ApprovalOutcome, type Refusal, recordedValue } from "../../core/approval/decide.ts";
import { type Approval, currentInput, type DecisionValue, samePerson } from "../../core/approval.ts";
import { ApprovalGone, Forbidden, ImpossibleTransition, InvalidInput } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { decisionLine } from "../../mail/approval-words.ts";
import { viewApproval } from "../../sessions/approvals/approval-view.ts";
import { checkEdit } from "../../sessions/approvals/check-edit.ts";
import { decideApproval } from "../../sessions/approvals/decide-approval.ts";
import { listApprovals } from "../../sessions/approvals/list-approvals.ts";
import { readApproval } from "../../sessions/approvals/settle-approval.ts";
import type { Caller, RouteModule } from "../api-context.ts";
import { maxCommentCharacters } from "../approval-page/decision-form.ts";
import { clientAddress } from "../client-address.ts";
import { cursor, pageLimit, wellFormed } from "../input-schemas.ts";
import { responses, secured } from "../responses.ts";
import { approval, approvalStatus, pageOf } from "../shapes.ts";

const defaultLimit = 50;
const idParam = z.object({ id: z.string().openapi({ example: "acme~20260505_143022_a1b2c3d4~1~3~0~0" }) });

const decisionBody = z.strictObject({
  decision: z.enum(["approve", "reject", "happened", "not_happened", "give_up"]).openapi({
    description: "happened, not_happened and give_up answer an approval of kind in_doubt",
  }),
  comment: wellFormed.max(maxCommentCharacters).optional(),
  input: z.record(z.string(), z.unknown()).optional().openapi({
    description: "All arguments, changed: validated against the tool, and what runs then. Only with approve",
  }),
  inputHash: z.string().optional().openapi({
    description: "Of the arguments that were looked at: refused when they were changed since",
  }),
});

const list = createRoute({
  method: "get",
  path: "/v1/approvals",
  summary: "List approvals, newest first",
  security: secured,
  request: {
    query: z.strictObject({ status: approvalStatus.optional(), limit: pageLimit, cursor: cursor.optional() }),
  },
  responses: responses({ 200: ["A page; it may be short and still have a cursor", pageOf(approval)] }),
});

const one = createRoute({
  method: "get",
  path: "/v1/approvals/{id}",
  summary: "One approval",
  security: secured,
  request: { params: idParam, query: z.strictObject({}) },
  responses: responses({ 200: ["The approval", approval] }, 404),
});

const decision = createRoute({
  method: "post",
  path: "/v1/approvals/{id}/decision",
  summary: "Decide as the signed-in person: the mail address of the token, else its user",
  security: secured,
  request: {
    params: idParam,
    query: z.strictObject({}),
    body: { required: true, content: { "application/json": { schema: decisionBody } } },
  },
  responses: responses({ 200: ["The approval afterwards", approval] }, 403, 404, 409, 410),
});

export const approvalRoutes: RouteModule = (app, { deps }) => {
  app.openapi(list, async (c) => {
    const { tenant } = c.get("caller");
    const { limit = defaultLimit, ...filter } = c.req.valid("query");
    return c.json(await listApprovals(deps, tenant, { limit, ...filter }), 200);
  });
  app.openapi(one, async (c) => {
    const { tenant } = c.get("caller");
    const { approval: found } = await readApproval(deps, tenant, c.req.valid("param").id);
    return c.json(viewApproval(found, deps.clock.now()), 200);
  });
  app.openapi(decision, async (c) => {
    const caller = c.get("caller");
    const { id } = c.req.valid("param");
    const { approval: found } = await readApproval(deps, caller.tenant, id);
    const body = c.req.valid("json");
    const address = clientAddress(c);
    const edit = body.input ? checkEdit(deps, found, body.input as JsonObject) : undefined;
    if (edit && "errors" in edit) {
      const errors = edit.errors.map(({ path, message }) => ({ path: path ? `input.${path}` : "input", message }));
      throw new InvalidInput("the changed arguments do not fit the tool", { errors });
    }
    const by = identityOf(caller, found);
    const outcome = await decideApproval(
      deps,
      { tenant: caller.tenant, id },
      {
        by,
        user: caller.user,
        decision: body.decision,
        via: "signin",
        shownHash: body.inputHash ?? currentInput(found).inputHash,
        ...(body.comment ? { comment: body.comment } : {}),
        ...(address === undefined ? {} : { address }),
        // Who sends the arguments whole has seen them.
        ...(edit ? { edit: { ...edit, confirmedHash: edit.inputHash } } : {}),
      },
    );
    refuse(outcome, { by, decision: body.decision });
    return c.json(viewApproval(outcome.approval, deps.clock.now()), 200);
  });
};

/** Approvers are mail addresses, or the user id of the session's owner. */
function identityOf(caller: Caller, { approvers }: Approval): string {
  const named = (person: string) => approvers.some(({ email }) => samePerson(email, person));
  if (caller.email && named(caller.email)) return caller.email;
  return named(caller.user) ? caller.user : (caller.email ?? caller.user);
}

/** Throws unless the decision counts, or this person had decided the same before. */
function refuse(outcome: ApprovalOutcome, { by, decision }: { by: string; decision: DecisionValue }): void {
  const { kind, approval: found, reason } = outcome;
  if (kind === "recorded" || kind === "settled") return;
  if (kind === "refused") throw refusal(reason, found, by);
  if (found.status === "cancelled") {
    throw new ApprovalGone(`it was cancelled${found.cancelReason ? `: ${found.cancelReason}` : ""}`);
  }
  if (found.status === "expired") throw refusal("expired", found, by);
  const own = found.decisions.find((one) => !one.superseded && samePerson(one.by, by));
  if (own && recordedValue(found, own.decision) === recordedValue(found, decision)) return;
  const lines = found.decisions.map(decisionLine).join("; ");
  throw new ImpossibleTransition(`it was decided before (${found.status}): ${lines}`);
}

function refusal(reason: Refusal, found: Approval, by: string): Error {
  switch (reason) {
    case "expired":
      return new ApprovalGone("it was not decided in time and did not run; ask the agent again for a new request");
    case "not_an_approver":
      return new Forbidden(
        `${by} is not one of its approvers: ${found.approvers.map(({ email }) => email).join(", ")}`,
      );
    case "not_yet_asked":
      return new Forbidden(`${by} is asked only when it is escalated`);
    case "own_request":
      return new Forbidden("nobody may approve what was asked on their own behalf");
    case "changed":
      return new ImpossibleTransition("the arguments were changed meanwhile; read the approval again");
    case "edit_not_allowed":
      return new Forbidden("the arguments of this call must not be changed");
    case "wrong_decision":
      return new InvalidInput(`an approval of kind ${found.kind} cannot be decided like this`, {
        errors: [
          {
            path: "decision",
            message: found.kind === "call" ? "approve or reject" : "happened, not_happened or give_up",
          },
        ],
      });
    default:
      return new ImpossibleTransition(`the decision was not taken (${reason})`);
  }
}
