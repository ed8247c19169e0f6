// The mailed link's page: one function from what is to be said to status and HTML. It decides nothing and
// reads nothing; the route brings the record, the nonces and the headers (`approvalHeaders`).
import { type Approval, statusAt } from "../../core/approval.ts";
import { notFoundPage, type SettledView, settledPage, signInPage, tooManyPage } from "./closed-pages.ts";
import { type CodeView, type ConfirmView, codePage, confirmPage, type PendingView, pendingPage } from "./open-pages.ts";

export type ApprovalPage =
  | ({ kind: "pending" } & PendingView)
  | ({ kind: "confirm" } & ConfirmView)
  | ({ kind: "code" } & CodeView)
  | ({ kind: "settled" } & SettledView)
  | { kind: "not_found"; styleNonce: string }
  | { kind: "sign_in"; styleNonce: string; signInUrl: string }
  | { kind: "too_many"; styleNonce: string };

/** `status` is the HTTP status: 200, 403 to sign in first, 404, 410 when it expired, 422 when the form was faulty, 429. */
export function approvalPage(page: ApprovalPage): { status: number; html: string } {
  switch (page.kind) {
    case "pending":
      return { status: page.errors && page.errors.length > 0 ? 422 : 200, html: pendingPage(page) };
    case "confirm":
      return { status: 200, html: confirmPage(page) };
    case "code":
      return { status: page.error ? 422 : 200, html: codePage(page) };
    case "settled":
      return { status: settledStatus(page.approval, page.now), html: settledPage(page) };
    case "not_found":
      return { status: 404, html: notFoundPage(page) };
    case "sign_in":
      return { status: 403, html: signInPage(page) };
    case "too_many":
      return { status: 429, html: tooManyPage(page) };
  }
}

function settledStatus(approval: Approval, now: number): number {
  return statusAt(approval, now) === "expired" ? 410 : 200;
}
