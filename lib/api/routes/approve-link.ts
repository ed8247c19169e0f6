// /approve/{id}/{secret}: the mailed link. GET and HEAD only show; deciding takes a POST with the nonce of the page
// and one explicit button. The address is a secret: it is never logged, and every answer says not to keep it.
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { ApprovalOutcome, DecisionRequest, Refusal } from "../../core/approval/decide.ts";
import { type Approval, type Approver, currentInput, statusAt } from "../../core/approval.ts";
import { isDisposition } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { checkCode, mailCode } from "../../sessions/approvals/approval-code.ts";
import { checkEdit, inputSchemaOf } from "../../sessions/approvals/check-edit.ts";
import { decideApproval } from "../../sessions/approvals/decide-approval.ts";
import { markShown } from "../../sessions/approvals/mark-shown.ts";
import { openLink } from "../../sessions/approvals/open-link.ts";
import type { Deps } from "../../steps/deps.ts";
import type { ApiEnv, RouteModule } from "../api-context.ts";
import { type ApprovalPage, approvalPage } from "../approval-page/approval-page.ts";
import { type DecisionForm, parseDecisionForm } from "../approval-page/decision-form.ts";
import { approvalHeaders } from "../approval-page/headers.ts";
import type { PendingView } from "../approval-page/open-pages.ts";
import { makePageNonce, verifyPageNonce } from "../approval-page/page-nonce.ts";
import { clientAddress } from "../client-address.ts";

const path = "/approve/:id/:secret";
const maxFormBytes = 1_000_000;

export const approveLinkRoutes: RouteModule = (app, { deps }) => {
  app.get(path, async (c) => {
    const visit = await open(deps, c);
    if ("response" in visit) return visit.response;
    // HEAD comes here too, and shows nothing.
    if (c.req.method === "GET") await shown(deps, visit);
    return visit.show();
  });
  app.post(
    path,
    bodyLimit({ maxSize: maxFormBytes, onError: (c) => c.text("the form is too large", 413) }),
    async (c) => {
      const visit = await open(deps, c);
      if ("response" in visit) return visit.response;
      const { approval } = visit;
      // Whoever comes too late sees what was decided; that it has expired is the sweeper's to write down.
      if (approval.terms.confirm === "signin" || statusAt(approval, deps.clock.now()) !== "pending")
        return visit.show();
      const input = JSON.parse(currentInput(approval).input) as JsonObject;
      return post(deps, visit, parseDecisionForm(await formOf(c), inputSchemaOf(deps, approval), input));
    },
  );
};

/** One request with the right secret. */
type Visit = {
  approval: Approval;
  approver: Approver;
  address: string | undefined;
  stored: Parameters<typeof markShown>[1];
  /** The page as the record stands. */
  show(extra?: Partial<PendingView>, status?: number): Response;
  page(page: ApprovalPage, status?: number): Response;
  decided(outcome: ApprovalOutcome): Response;
  nonce(inputHash: string): string;
  isNonce(nonce: string, inputHash: string): boolean;
  request(decision: DecisionRequest["decision"]): DecisionRequest;
  styleNonce: string;
};

async function open(deps: Deps, c: Context<ApiEnv>): Promise<Visit | { response: Response }> {
  const address = clientAddress(c);
  const styleNonce = deps.ids.secret();
  const link = { id: c.req.param("id") ?? "", secret: c.req.param("secret") ?? "", address: address ?? "" };
  const found = await openLink(deps, link);
  const page = (view: ApprovalPage, status?: number): Response => {
    const answer = approvalPage(view);
    return new Response(answer.html, { status: status ?? answer.status, headers: approvalHeaders(styleNonce) });
  };
  if (found.kind === "unknown") return { response: page({ kind: "not_found", styleNonce }) };
  if (found.kind === "too_many") return { response: page({ kind: "too_many", styleNonce }) };
  const { stored, approver } = found;
  return visitOf(deps, { stored, approver, address, styleNonce, page });
}

function visitOf(deps: Deps, at: Pick<Visit, "stored" | "approver" | "address" | "styleNonce" | "page">): Visit {
  const { approver, styleNonce, page } = at;
  const { approval } = at.stored;
  const hmac = (key: string, text: string) => deps.signer.hmac(JSON.stringify(["page", key, text]));
  const partsOf = (inputHash: string) => ({ approvalId: approval.id, secretHash: approver.secretHash, inputHash });
  const nonce = (inputHash: string) => makePageNonce(partsOf(inputHash), deps.clock.now(), hmac);

  function pageOf(current: Approval, extra: Partial<PendingView> = {}): ApprovalPage {
    const now = deps.clock.now();
    if (current.terms.confirm === "signin") {
      const signInUrl = `${deps.publicUrl().replace(/\/+$/, "")}/?approval=${current.id}`;
      return { kind: "sign_in", styleNonce, signInUrl };
    }
    if (statusAt(current, now) !== "pending") {
      const { notice } = extra;
      return { kind: "settled", approval: current, styleNonce, now, ...(notice ? { notice } : {}) };
    }
    const schema = inputSchemaOf(deps, current);
    const pageNonce = nonce(currentInput(current).inputHash);
    return { kind: "pending", approval: current, approver, styleNonce, pageNonce, schema, ...extra };
  }

  return {
    ...at,
    approval,
    nonce,
    isNonce: (given, inputHash) => verifyPageNonce(given, partsOf(inputHash), deps.clock.now(), hmac),
    show: (extra, status) => page(pageOf(approval, extra), status),
    decided: (outcome) => {
      const { notice, status } = noticeOf(outcome);
      return page(pageOf(outcome.approval, notice ? { notice } : {}), status);
    },
    request: (decision) => ({
      by: approver.email,
      decision,
      via: "link",
      shownHash: currentInput(approval).inputHash,
      ...(at.address === undefined ? {} : { address: at.address }),
    }),
  };
}

/** A fact for the audit; that it could not be written must not keep the page from people. */
async function shown(deps: Deps, { stored, approval, approver, address }: Visit): Promise<void> {
  if (approval.terms.confirm === "signin" || statusAt(approval, deps.clock.now()) !== "pending") return;
  try {
    await markShown(deps, stored, approver, address);
  } catch (error) {
    if (!isDisposition(error, "Transient")) throw error;
    deps.log.warn("that a page was shown was not recorded", { sessionId: approval.sessionId });
  }
}

async function formOf(c: Context<ApiEnv>): Promise<FormData> {
  try {
    return await c.req.raw.formData();
  } catch {
    // No form at all presses no button.
    return new FormData();
  }
}

const tooOld =
  "This page was open for too long, or the arguments were changed meanwhile. Nothing has been decided: look again.";

async function post(deps: Deps, visit: Visit, form: DecisionForm): Promise<Response> {
  const { approval, approver, styleNonce } = visit;
  const comment = form.comment === undefined ? {} : { comment: form.comment };
  const current = currentInput(approval).inputHash;
  const edit = form.kind === "change" ? form.input : form.kind === "decide" ? form.edit : undefined;
  const checked = edit && checkEdit(deps, approval, edit);
  if (checked && "errors" in checked) {
    return visit.isNonce(form.nonce, current) || form.kind === "change"
      ? visit.show({ ...comment, errors: checked.errors })
      : visit.show({ ...comment, notice: tooOld }, 403);
  }
  // The confirming page's nonce is for the changed arguments, so only what was shown can be confirmed.
  const shownHash = form.kind === "decide" && checked ? checked.inputHash : current;
  if (!visit.isNonce(form.nonce, shownHash)) return visit.show({ ...comment, notice: tooOld }, 403);
  switch (form.kind) {
    case "unclear":
      return visit.show({ ...comment, notice: `Nothing has been decided: ${form.reason}.` }, 422);
    case "faulty":
      return visit.show({ ...comment, errors: form.errors, submitted: form.submitted });
    case "change": {
      const hash = checked?.inputHash ?? current;
      if (hash === current) return visit.show({ ...comment, notice: "Nothing was changed, and nothing decided." });
      const pageNonce = visit.nonce(hash);
      return visit.page({ kind: "confirm", approval, approver, styleNonce, pageNonce, edited: form.input, ...comment });
    }
    case "decide":
      return decideByForm(deps, visit, form, checked);
  }
}

async function decideByForm(
  deps: Deps,
  visit: Visit,
  form: DecisionForm & { kind: "decide" },
  edit: { input: string; inputHash: string } | undefined,
): Promise<Response> {
  const { approval } = visit;
  const proof = approval.terms.confirm === "code" ? await codeStep(deps, visit, form, edit?.inputHash) : "link";
  if (proof instanceof Response) return proof;
  const outcome = await decideApproval(deps, approval, {
    ...visit.request(form.decision),
    via: proof,
    ...(form.comment === undefined ? {} : { comment: form.comment }),
    ...(edit ? { edit: { ...edit, confirmedHash: edit.inputHash } } : {}),
  });
  return visit.decided(outcome);
}

/** "code" once the right one was typed; else the page that asks for it. */
async function codeStep(
  deps: Deps,
  visit: Visit,
  form: DecisionForm & { kind: "decide" },
  editedHash: string | undefined,
): Promise<"code" | Response> {
  const { approval, approver, styleNonce } = visit;
  const inputHash = editedHash ?? currentInput(approval).inputHash;
  const place = { approval, approver, inputHash };
  const ask = (error?: string, status?: number) =>
    visit.page(
      {
        kind: "code",
        approval,
        approver,
        styleNonce,
        pageNonce: visit.nonce(inputHash),
        decision: form.decision,
        ...(form.comment === undefined ? {} : { comment: form.comment }),
        ...(form.edit ? { edited: form.edit } : {}),
        ...(error === undefined ? {} : { error }),
      },
      status,
    );
  if (form.code === undefined) {
    try {
      await mailCode(deps, place);
    } catch {
      return ask("The code could not be mailed now. Go back and press the button again.", 503);
    }
    return ask();
  }
  const verdict = await checkCode(deps, place, form.code);
  if (verdict === "right") return "code";
  return verdict === "wrong"
    ? ask("That is not the code, or it is too old. Nothing has been decided.")
    : visit.page({ kind: "too_many", styleNonce });
}

/** What to say about an outcome; on a settled page it stands above what was decided. */
function noticeOf(outcome: ApprovalOutcome): { notice?: string; status?: number } {
  switch (outcome.kind) {
    case "settled":
      return {};
    case "recorded":
      return { notice: "Your approval is recorded." };
    case "already":
      return outcome.reason === "decided"
        ? { notice: "You had decided before; that decision counts." }
        : { notice: "It was settled before. What you pressed now changes nothing." };
    case "refused":
      return refusals[outcome.reason] ?? { notice: "The decision was not taken.", status: 409 };
  }
}

const refusals: Partial<Record<Refusal, { notice?: string; status: number }>> = {
  expired: { status: 410 },
  changed: { notice: tooOld, status: 409 },
  own_request: { notice: "You asked for this yourself, so you cannot approve it.", status: 403 },
  not_yet_asked: { notice: "You are asked only when it is escalated.", status: 403 },
  edit_not_allowed: { notice: "The arguments of this call must not be changed.", status: 403 },
  confirm_edit: { notice: "Look at the changed arguments first.", status: 409 },
};
