// An answer as a mail. Pure, so that a repeated send is the same mail.
import { html } from "hono/html";
import { visible, visibleLine } from "../core/approval/describe.ts";
import type { Mail } from "../ports/mailer.ts";
import { type Answer, deliveryId } from "./answer.ts";

/** `domain`: right side of the Message-ID, a domain of ours. */
export function answerMail(answer: Answer, to: string, domain: string): Mail {
  const ok = answer.status === "completed" ? "" : `${answer.endReason}: `;
  const from = `${answer.agent} · session ${answer.sessionId} · turn ${answer.turn}`;
  const text = visible(answer.answer);
  return {
    to,
    subject: visibleLine(`${ok}${answer.title || answer.key}`, 150),
    text: `${text}\n\n-- \n${from}\n`,
    html: String(
      html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${answer.agent}</title></head>
<body style="font:15px/1.5 system-ui,sans-serif;color:#1a1a1a;max-width:44em;margin:1em auto;padding:0 1em">
<div style="white-space:pre-wrap;overflow-wrap:anywhere">${text}</div>
<p style="color:#595959;font-size:13px">${from}</p></body></html>`,
    ),
    messageId: `<answer.${deliveryId(answer)}.${answer.tenant}@${domain}>`,
    date: answer.at,
  };
}
