// The mails about an approval. Pure: the same record gives the same mail. Tool input is hostile, so each
// line of it is set apart from ours, and our link comes before it.
import { html, raw } from "hono/html";
import { type Detail, describeInput, visible, visibleLine } from "../core/approval/describe.ts";
import { type Approval, type Approver, currentInput, type MailPurpose } from "../core/approval.ts";
import type { Json } from "../core/json.ts";
import type { ApprovalMail, MailText } from "../ports/approval-mails.ts";
import { consequence, decisionLine, outcome, question } from "./approval-words.ts";
import { utcTime } from "./utc-time.ts";

export type { ApprovalMail, MailText };

/** Characters of arguments that a mail shows; the page shows all. Mail programs clip near 100 KB. */
export const maxMailCharacters = 20_000;

export function approvalMail(mail: ApprovalMail): MailText {
  const parts = partsOf(mail);
  return { subject: visibleLine(parts.subject, 150), text: textOf(parts), html: htmlOf(parts) };
}

/** Stable for one approval, person and purpose; `salt` sets repeated code mails apart. */
export function approvalMessageId(mail: {
  approval: Pick<Approval, "id" | "tenant">;
  approver: Pick<Approver, "email">;
  purpose: MailPurpose;
  /** Right side of the Message-ID: a domain of ours. */
  domain: string;
  hash: (text: string) => string;
  salt?: string;
}): string {
  const parts = [mail.approval.tenant, mail.approval.id, mail.approver.email, mail.purpose, mail.salt ?? ""];
  return `<${mail.hash(JSON.stringify(parts)).slice(0, 40)}.${mail.purpose}@${mail.domain}>`;
}

/** In this order in both parts. `theirs`: written by the agent or by approvers, not by us. */
type Parts = {
  subject: string;
  lead: string[];
  link?: string;
  code?: string;
  afterLink?: string;
  theirs: { title: string; details: Detail[] };
  left: string;
  foot: string[];
};

function partsOf(mail: ApprovalMail): Parts {
  const { approval } = mail;
  const tool = visibleLine(approval.tool);
  const until = utcTime(approval.expiresAt);
  const foot = [`Session ${visibleLine(approval.sessionId)}, approval ${visibleLine(approval.id)}.`];
  if (mail.purpose === "code") {
    return {
      subject: `Your code for ${tool}`,
      lead: [`Your code to decide on ${tool}, valid until ${utcTime(mail.codeExpiresAt)}:`],
      code: mail.code,
      afterLink:
        "Type it into the page that asked for it. If you did not ask for it, someone else has your link: reject the request.",
      theirs: { title: "", details: [] },
      left: "",
      foot,
    };
  }
  if (mail.purpose === "decided") return decidedParts(approval, tool, foot);
  const doubt = approval.kind === "in_doubt";
  const ask = doubt ? `Did ${tool} happen?` : `Approval needed: ${tool}`;
  const why = {
    request: [],
    reminder: ["This is a reminder: nobody has settled it yet."],
    escalation: ["It comes to you because those who were asked first have not settled it."],
  }[mail.purpose];
  const prefix = { request: "", reminder: "Reminder: ", escalation: "Escalated to you: " }[mail.purpose];
  return {
    subject: `${prefix}${ask} (until ${until})`,
    lead: [
      question(approval),
      ...why,
      `It waits until ${until}. Look at it and decide here; opening the page decides nothing:`,
    ],
    link: mail.link,
    afterLink: "This link is yours alone. Do not forward it.",
    ...argumentsOf(approval, doubt ? "What was called" : "What would run"),
    foot: [consequence(approval), ...foot],
  };
}

function decidedParts(approval: Approval, tool: string, foot: string[]): Parts {
  const who = approval.decisions.map((decision) => `${decisionLine(decision)}.`);
  const reason = approval.cancelReason ? [`Reason: ${visibleLine(approval.cancelReason, 500)}.`] : [];
  const comments = approval.decisions.flatMap((decision) =>
    decision.comment ? [{ label: `Comment of ${visibleLine(decision.by)}`, text: visible(decision.comment) }] : [],
  );
  const shown = argumentsOf(approval, approval.edited ? "Arguments, as an approver changed them" : "Arguments");
  return {
    subject: `Settled: ${tool} ${outcome(approval)}`,
    lead: [`${tool} ${outcome(approval)}. You need not do anything.`, ...who, ...reason],
    ...shown,
    theirs: { ...shown.theirs, details: [...comments, ...shown.theirs.details] },
    foot,
  };
}

function argumentsOf(approval: Approval, what: string): Pick<Parts, "theirs" | "left"> {
  const all = describeInput(JSON.parse(currentInput(approval).input) as Json);
  const details: Detail[] = [];
  let room = maxMailCharacters;
  for (const detail of all) {
    const characters = Array.from(detail.text);
    if (room < characters.length + detail.label.length) {
      const text = characters.slice(0, Math.max(0, room - detail.label.length)).join("");
      if (text) details.push({ label: detail.label, text: `${text}…` });
      break;
    }
    details.push(detail);
    room -= characters.length + detail.label.length;
  }
  const cut = details.length < all.length || details.at(-1)?.text !== all[details.length - 1]?.text;
  const total = all.reduce((sum, detail) => sum + Array.from(detail.text).length, 0);
  return {
    theirs: { title: `${what}: ${visibleLine(approval.tool)}, version ${visibleLine(approval.toolVersion)}`, details },
    left: cut ? `This mail shows the beginning only, of ${total} characters in all. The page shows everything.` : "",
  };
}

function textOf(parts: Parts): string {
  const theirs = parts.theirs.details.flatMap(({ label, text }) => {
    const lines = text.split("\n");
    if (lines.length === 1) return [`| ${label}: ${text}`];
    return [`| ${label}:`, ...lines.map((line) => `|   ${line}`)];
  });
  const blocks = [
    ...parts.lead,
    ...[parts.link, parts.code].flatMap((own) => (own ? [`    ${own}`] : [])),
    ...(parts.afterLink ? [parts.afterLink] : []),
    ...(theirs.length > 0
      ? [`${parts.theirs.title}\n(what follows a bar was not written by us)`, theirs.join("\n")]
      : []),
    ...(parts.left ? [parts.left] : []),
    ...parts.foot,
  ];
  return `${blocks.join("\n\n")}\n`;
}

const font = "font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:16px;line-height:1.5";
const button =
  "display:inline-block;padding:12px 20px;border-radius:6px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none";
const theirStyle = "border-inline-start:3px solid #808080;padding-inline-start:12px;margin:0 0 16px 0";
const wrap = "white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 8px 0";

function htmlOf(parts: Parts): string {
  const paragraph = (text: string) => html`<p>${text}</p>\n`;
  const details = parts.theirs.details.map(
    ({ label, text }) =>
      html`<dt dir="auto" style="font-weight:600">${unlinked(label)}</dt>
<dd dir="auto" style="${wrap}">${unlinked(text)}</dd>\n`,
  );
  const body = html`<!doctype html>
<html lang="en" dir="ltr">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${parts.subject}</title></head>
<body style="${font};max-width:640px;margin:0 auto;padding:16px">
${parts.lead.map(paragraph)}${
  parts.link ? html`<p><a href="${parts.link}" style="${button}">Look and decide</a></p>\n` : ""
}${parts.code ? html`<p style="font-size:28px;letter-spacing:4px;font-weight:600">${parts.code}</p>\n` : ""}${
  parts.afterLink ? paragraph(parts.afterLink) : ""
}${
  details.length > 0
    ? html`<p style="font-weight:600">${parts.theirs.title}</p>
<dl style="${theirStyle}">\n${details}</dl>\n`
    : ""
}${parts.left ? paragraph(parts.left) : ""}${parts.foot.map(paragraph)}</body>
</html>
`;
  return String(body);
}

/** Text in which mail programs find no address to make a link of. */
function unlinked(text: string) {
  return text.split(/(?<=:)(?=\/\/)|(?<=www)(?=\.)/i).map((part, index) => (index === 0 ? part : [raw("<wbr>"), part]));
}
