// The bytes of a mail, the same for every Mailer and every attempt: nothing in them comes from a clock or
// from chance, so that a repeated send is the same mail (H23). Only this file knows MIME.
import { createHash } from "node:crypto";
import MailComposer from "nodemailer/lib/mail-composer";
import { InvalidInput, MailRefused } from "../core/errors.ts";
import type { Mail } from "../ports/mailer.ts";

export type MimeMessage = {
  /** The whole message, CRLF line ends, 7-bit clean, ending with CRLF. */
  bytes: Uint8Array;
  /** Addresses for the server, without names. */
  envelope: { from: string; to: string[] };
};

/**
 * Builds the message. `from` is "Name <address>" or an address. Throws `MailRefused` when `to` is not one
 * plain address and `InvalidInput` when the Message-ID is not `<left@right>`.
 */
export async function mimeMessage(mail: Mail, from: string): Promise<MimeMessage> {
  // The address goes into a header and into the envelope: one that could be read as two is not an address.
  if (!/^[^\s,;:<>()[\]\\"@]+@[^\s,;:<>()[\]\\"@]+$/.test(mail.to)) {
    throw new MailRefused("the recipient is not a single mail address");
  }
  if (!/^<[^\s<>@]+@[^\s<>@]+>$/.test(mail.messageId)) {
    throw new InvalidInput("messageId: write <left@right> (RFC 5322)");
  }
  const message = new MailComposer({
    from,
    to: { name: "", address: mail.to },
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    messageId: mail.messageId,
    date: new Date(mail.date),
    // RFC 3834 and Exchange: no out-of-office replies to a machine.
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
    baseBoundary: createHash("sha256").update(mail.messageId).digest("hex").slice(0, 32),
    textEncoding: "quoted-printable",
    newline: "\r\n",
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  const envelope = message.getEnvelope();
  if (!envelope.from) throw new InvalidInput("from: write a mail address, or Name <address>");
  const body = await message.build();
  const bytes = body.subarray(-2).equals(Buffer.from("\r\n")) ? body : Buffer.concat([body, Buffer.from("\r\n")]);
  return { bytes, envelope: { from: envelope.from, to: [mail.to] } };
}
