// The frame of every approval page, and the pieces that several of them show.
import { html, raw } from "hono/html";
import { describeInput, visible, visibleJson, visibleLine } from "../../core/approval/describe.ts";
import { type Approval, currentInput } from "../../core/approval.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { decisionLine } from "../../mail/approval-words.ts";
import { utcTime } from "../../mail/utc-time.ts";
import { style } from "./style.ts";

/** What hono's `html` gives: text that is escaped already. Nothing here is awaited, so it is never a promise. */
export type Markup = ReturnType<typeof html>;

/** `title`: one line without markup; `styleNonce`: the one in the headers. */
export function layout(title: string, styleNonce: string, body: Markup): string {
  const page = html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${visibleLine(title)}</title>
<style nonce="${styleNonce}">${raw(style)}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
  return String(page);
}

export function inputOf(approval: Approval): JsonObject {
  return JSON.parse(currentInput(approval).input) as JsonObject;
}

/** The whole of the arguments: as a list to read and as JSON. */
export function argumentsSection(title: string, input: JsonObject): Markup {
  const rows = describeInput(input).map(
    ({ label, text }) => html`<dt dir="auto">${label}</dt>\n<dd dir="auto">${text}</dd>\n`,
  );
  return html`<section aria-labelledby="arguments">
<h2 id="arguments">${title}</h2>
${rows.length === 0 ? html`<p>It has no arguments.</p>` : html`<dl class="arguments">\n${rows}</dl>`}
<details><summary>The same as JSON</summary><pre dir="ltr" tabindex="0">${visibleJson(input)}</pre></details>
</section>`;
}

/** What an edit changes, value by value; unchanged ones are listed as they are. */
export function changesSection(title: string, before: JsonObject, after: JsonObject): Markup {
  const rows = changes(before, after).map(({ label, was, is }) => {
    if (was === is) return html`<dt dir="auto">${label}</dt>\n<dd dir="auto">${is}</dd>\n`;
    const gone = was === undefined ? "" : html`<del dir="auto"><span class="hidden">Before: </span>${was}</del>`;
    const come =
      is === undefined ? html`<ins>removed</ins>` : html`<ins dir="auto"><span class="hidden">Now: </span>${is}</ins>`;
    return html`<dt dir="auto">${label}</dt>\n<dd>${gone}${come}</dd>\n`;
  });
  return html`<section aria-labelledby="changes">
<h2 id="changes">${title}</h2>
<dl class="arguments">\n${rows}</dl>
<details><summary>The new arguments as JSON</summary><pre dir="ltr" tabindex="0">${visibleJson(after)}</pre></details>
</section>`;
}

/** Who asked, where, until when. */
export function factsSection(approval: Approval, until?: string): Markup {
  const rows: [string, string][] = [
    ["Tool", `${visibleLine(approval.tool)}, version ${visibleLine(approval.toolVersion)}`],
    ["Asked for by", visibleLine(approval.requestedBy)],
    ["Asked", utcTime(approval.createdAt)],
    ...(until ? [["Waits until", until] satisfies [string, string]] : []),
    ["Session", visibleLine(approval.sessionId)],
  ];
  return html`<dl class="facts">
${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd dir="auto">${value}</dd></div>\n`)}</dl>`;
}

export function decisionsSection(approval: Approval): Markup {
  if (approval.decisions.length === 0) return html``;
  return html`<section aria-labelledby="decisions">
<h2 id="decisions">Decisions</h2>
<ul>
${approval.decisions.map(
  (decision) =>
    html`<li>${decisionLine(decision)}${
      decision.comment ? html`<br><q dir="auto">${visible(decision.comment)}</q>` : ""
    }</li>\n`,
)}</ul>
</section>`;
}

function changes(before: Json, after: Json): { label: string; was?: string; is?: string }[] {
  const was = new Map(describeInput(before).map((detail) => [detail.label, detail.text]));
  const is = new Map(describeInput(after).map((detail) => [detail.label, detail.text]));
  return [...new Set([...was.keys(), ...is.keys()])].map((label) => ({
    label,
    was: was.get(label),
    is: is.get(label),
  }));
}
