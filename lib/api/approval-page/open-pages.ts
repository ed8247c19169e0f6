// Pages on which something can still be decided: the request itself, the confirmation of a change, the code.
// Opening them decides nothing; each decision is a POST with the page's nonce and one explicit button.
import { html } from "hono/html";
import { visibleJson, visibleLine } from "../../core/approval/describe.ts";
import { type Approval, type Approver, type DecisionValue, isRequester, samePerson } from "../../core/approval.ts";
import type { FieldError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { consequence, question } from "../../mail/approval-words.ts";
import { utcTime } from "../../mail/utc-time.ts";
import { maxCommentCharacters } from "./decision-form.ts";
import { editForm } from "./edit-form.ts";
import {
  argumentsSection,
  changesSection,
  decisionsSection,
  factsSection,
  inputOf,
  layout,
  type Markup,
} from "./layout.ts";

type Open = {
  approval: Approval;
  /** Whose link it is, or who is signed in. */
  approver: Pick<Approver, "email">;
  styleNonce: string;
  /** `makePageNonce` for the arguments that this page shows. */
  pageNonce: string;
  /** What the person wrote on the page before. */
  comment?: string;
};

export type PendingView = Open & {
  /** JSON Schema of the tool's input. */
  schema: JsonObject;
  /** Something to say first: the page was open too long, someone changed the arguments … */
  notice?: string;
  errors?: FieldError[];
  submitted?: Record<string, string>;
};
export type ConfirmView = Open & { /** Validated, as they would run. */ edited: JsonObject };
export type CodeView = Open & { decision: DecisionValue; edited?: JsonObject; error?: string };

export function pendingPage(view: PendingView): string {
  const { approval, approver } = view;
  const input = inputOf(approval);
  const doubt = approval.kind === "in_doubt";
  const decided = approval.decisions.some((one) => !one.superseded && samePerson(one.by, approver.email));
  const own = !doubt && !approval.terms.allowSelf && isRequester(approval, approver.email);
  const what = doubt ? "What was called" : "What would run";
  const before = approval.edited ? (JSON.parse(approval.input) as JsonObject) : null;
  return layout(
    doubt ? `Did ${approval.tool} happen?` : `Approval needed: ${approval.tool}`,
    view.styleNonce,
    html`<p class="kicker">${doubt ? "Outcome unknown" : "Approval needed"}</p>
<h1>${doubt ? `Did ${visibleLine(approval.tool)} happen?` : visibleLine(approval.tool)}</h1>
${faultsOf(view)}<p>${question(approval)}</p>
${factsSection(approval, utcTime(approval.expiresAt))}
${before ? changesSection(`${what}, as changed by ${visibleLine(approval.edited?.by ?? "")}`, before, input) : argumentsSection(what, input)}
${decisionsSection(approval)}
${decided ? html`<p class="note">You have decided. ${missing(approval)}</p>` : decisionForm(view, own)}
${!decided && !own && !doubt && approval.terms.allowEdit ? editForm({ ...view, input }) : ""}
<footer>${consequence(approval)} You decide as <bdi>${approver.email}</bdi>. Opening this page has decided nothing.</footer>`,
  );
}

export function confirmPage(view: ConfirmView): string {
  const { approval } = view;
  const reset = approval.decisions.some((decision) => !decision.superseded);
  return layout(
    `Confirm the change: ${approval.tool}`,
    view.styleNonce,
    html`<p class="kicker">Nothing has been decided yet</p>
<h1>Approve ${visibleLine(approval.tool)} with these changes?</h1>
${reset ? html`<p class="note">Approvals that others gave for the earlier arguments will no longer count.</p>\n` : ""}${factsSection(approval, utcTime(approval.expiresAt))}
${changesSection("What would run", inputOf(approval), view.edited)}
<form method="post">
${hiddenFields(view, view.edited)}${commentField(view.comment)}
<div class="buttons"><button class="main" name="do" value="approve">Approve with these changes</button></div>
</form>
<form method="get"><div class="buttons"><button>Back, change nothing</button></div></form>
<footer>You decide as <bdi>${view.approver.email}</bdi>.</footer>`,
  );
}

export function codePage(view: CodeView): string {
  const { approval } = view;
  const verb = decisionWords[view.decision];
  return layout(
    "Type the code",
    view.styleNonce,
    html`<p class="kicker">Nothing has been decided yet</p>
<h1>Type the code that was mailed to you</h1>
<p>To make sure that it is you, a code was sent to <bdi>${view.approver.email}</bdi>. With it you decide on ${visibleLine(approval.tool)}: ${verb.toLowerCase()}${view.edited ? ", with your changes" : ""}.</p>
<form method="post">
${hiddenFields(view, view.edited)}<input type="hidden" name="comment" value="${view.comment ?? ""}">
<label for="code">Code</label>
<input class="code" id="code" name="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 ]*" required autofocus${
      view.error ? html` aria-invalid="true" aria-describedby="code-error"` : ""
    }>
${view.error ? html`<p class="error" id="code-error" role="alert">${view.error}</p>\n` : ""}<div class="buttons"><button class="main" name="do" value="${view.decision}">${verb}</button></div>
</form>
<form method="get"><div class="buttons"><button>Back, decide nothing</button></div></form>`,
  );
}

const decisionWords: Record<DecisionValue, string> = {
  approve: "Approve",
  reject: "Reject",
  happened: "It happened",
  not_happened: "It did not happen",
  give_up: "Give it up",
};

function decisionForm(view: PendingView, own: boolean): Markup {
  const button = (value: DecisionValue, look: string) =>
    html`<button class="${look}" name="do" value="${value}">${decisionWords[value]}</button>\n`;
  const buttons =
    view.approval.kind === "in_doubt"
      ? [button("happened", "main"), button("not_happened", "main"), button("give_up", "danger")]
      : [own ? "" : button("approve", "main"), button("reject", "danger")];
  return html`${own ? html`<p class="note">You asked for this yourself, so you cannot approve it. You can withdraw it by rejecting.</p>\n` : ""}<form method="post">
${hiddenFields(view)}${commentField(view.comment)}
<div class="buttons">${buttons}</div>
</form>`;
}

function hiddenFields(view: Open, edited?: JsonObject): Markup {
  return html`<input type="hidden" name="nonce" value="${view.pageNonce}">
${edited ? html`<input type="hidden" name="edit" value="${visibleJson(edited)}">\n` : ""}`;
}

function commentField(comment = ""): Markup {
  return html`<label for="comment">Comment (optional; the agent reads it)</label>
<textarea id="comment" name="comment" dir="auto" rows="3" maxlength="${maxCommentCharacters}">\n${comment}</textarea>`;
}

function faultsOf(view: PendingView): Markup {
  const faults = view.errors?.length ?? 0;
  return html`${view.notice ? html`<p class="note" role="status">${view.notice}</p>\n` : ""}${
    faults > 0
      ? html`<p class="fault" role="alert">The change was not taken: ${faults === 1 ? "one field needs" : `${faults} fields need`} mending, see below. Nothing has been decided.</p>\n`
      : ""
  }`;
}

function missing(approval: Approval): string {
  const given = approval.decisions.filter((decision) => !decision.superseded).length;
  const left = approval.quorum - given;
  return left === 1 ? "One more approval is needed." : `${left} more approvals are needed.`;
}
