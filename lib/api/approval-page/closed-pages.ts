// Pages on which nothing can be decided: settled, expired, cancelled, unknown, sign in first, too many tries.
import { html } from "hono/html";
import { visibleLine } from "../../core/approval/describe.ts";
import { type Approval, statusAt } from "../../core/approval.ts";
import { outcome } from "../../mail/approval-words.ts";
import { utcTime } from "../../mail/utc-time.ts";
import { argumentsSection, decisionsSection, factsSection, inputOf, layout } from "./layout.ts";

export type SettledView = {
  approval: Approval;
  styleNonce: string;
  /** Epoch milliseconds. */
  now: number;
  /** Something to say first, as: your own decision came later. */
  notice?: string;
};

/** What was decided by whom and when; for an expired one, how to go on. */
export function settledPage(view: SettledView): string {
  const { approval } = view;
  const status = statusAt(approval, view.now);
  const tool = visibleLine(approval.tool);
  const heading = `${tool} ${outcome({ ...approval, status })}`;
  const when = status === "expired" ? approval.expiresAt : approval.settledAt;
  const mend =
    status === "expired"
      ? html`<p>It was open until ${utcTime(approval.expiresAt)} and did not run. The agent has been told. If it is still wanted, ask the agent again: it will make a new request with a new link.</p>`
      : status === "cancelled"
        ? html`<p>It did not run and no longer needs a decision.${approval.cancelReason ? html` Reason: <bdi>${visibleLine(approval.cancelReason, 500)}</bdi>.` : ""}</p>`
        : "";
  const title = approval.edited ? `Arguments, as changed by ${visibleLine(approval.edited.by)}` : "Arguments";
  return layout(
    heading,
    view.styleNonce,
    html`<p class="kicker">Settled${when === undefined ? "" : `, ${utcTime(when)}`}</p>
<h1>${heading}</h1>
${view.notice ? html`<p class="note" role="status">${view.notice}</p>\n` : ""}${mend}
${decisionsSection(approval)}
${factsSection(approval)}
${argumentsSection(title, inputOf(approval))}`,
  );
}

/** The same whether the id is unknown or the secret is wrong, so that neither can be found out. */
export function notFoundPage(view: { styleNonce: string }): string {
  return layout(
    "Not found",
    view.styleNonce,
    html`<h1>There is nothing at this address</h1>
<p>The link may be incomplete. Open it from the mail again, whole. Links are personal and belong to one request.</p>`,
  );
}

/** Shows nothing of the request. `signInUrl` is ours. */
export function signInPage(view: { styleNonce: string; signInUrl: string }): string {
  return layout(
    "Sign in to decide",
    view.styleNonce,
    html`<h1>Sign in to decide</h1>
<p>Your organisation asks approvers to sign in. The mailed link alone shows and decides nothing.</p>
<div class="buttons"><a class="button main" href="${view.signInUrl}" rel="noreferrer">Sign in</a></div>`,
  );
}

export function tooManyPage(view: { styleNonce: string }): string {
  return layout(
    "Too many tries",
    view.styleNonce,
    html`<h1>Too many tries</h1>
<p>Wait a minute and open the link again. Nothing has been decided by this.</p>`,
  );
}
