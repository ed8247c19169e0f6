// Mailer over SMTP. One connection a mail: approvals are rare, and a pool would keep a Lambda awake.
import nodemailer from "nodemailer";
import { InvalidDefinition, MailRefused, MailUnavailable } from "../core/errors.ts";
import { mimeMessage } from "../mail/mime.ts";
import type { Log } from "../ports/clock.ts";
import type { Mailer } from "../ports/mailer.ts";

export type SmtpMailerOptions = {
  /**
   * `smtp://user:password@host:587` (STARTTLS where offered) or `smtps://…:465`. `?tls=required` insists on
   * STARTTLS, `?tls=never` does without.
   * @default tls=required when there is a password and the host is not loopback
   */
  url: string;
  /** "Name <address>" or an address. */
  from: string;
  log?: Log;
  /** Longest silence of the server at any stage, milliseconds. @default 20000 */
  timeoutMs?: number;
};

/** Throws `InvalidDefinition` on a bad URL; its text never shows the URL, which holds a password. */
export function createSmtpMailer(options: SmtpMailerOptions): Mailer {
  const server = parseSmtpUrl(options.url);
  const timeoutMs = options.timeoutMs ?? 20_000;
  const transport = nodemailer.createTransport({
    ...server,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    destination: `smtp ${server.host}:${server.port}`,
    async send(mail) {
      const { bytes, envelope } = await mimeMessage(mail, options.from);
      try {
        await transport.sendMail({ envelope, raw: Buffer.from(bytes) });
      } catch (error) {
        const mailError = toMailError(error);
        options.log?.warn("mail not sent", { messageId: mail.messageId, code: mailError.code });
        throw mailError;
      }
      options.log?.info("mail sent", { messageId: mail.messageId });
    },
  };
}

type SmtpServer = {
  host: string;
  port: number;
  secure: boolean;
  requireTLS: boolean;
  ignoreTLS: boolean;
  auth?: { user: string; pass: string };
};

function parseSmtpUrl(text: string): SmtpServer {
  const wrong = (what: string) => new InvalidDefinition(`SMTP URL: ${what}; write smtp://user:password@host:587`);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url?.hostname) throw wrong("not a URL");
  if (url.protocol !== "smtp:" && url.protocol !== "smtps:") throw wrong("the scheme must be smtp or smtps");
  const tls = url.searchParams.get("tls");
  const unknown = [...url.searchParams.keys()].filter((name) => name !== "tls");
  if (unknown.length > 0) throw wrong(`unknown parameter ${unknown.join(", ")}`);
  if (tls !== null && tls !== "required" && tls !== "never") throw wrong("tls must be required or never");
  const secure = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const loopback = host === "localhost" || host === "::1" || host.startsWith("127.");
  const auth = url.username ? { user: decoded(url.username), pass: decoded(url.password) } : undefined;
  return {
    host,
    port: url.port ? Number(url.port) : secure ? 465 : 587,
    secure,
    // A password is not sent in the clear over a network because somebody strips STARTTLS from the greeting.
    requireTLS: tls === "required" || (tls === null && auth !== undefined && !loopback && !secure),
    ignoreTLS: tls === "never",
    ...(auth ? { auth } : {}),
  };

  function decoded(part: string): string {
    try {
      return decodeURIComponent(part);
    } catch {
      throw wrong("user and password must be percent-encoded");
    }
  }
}

/**
 * Only an answer about this mail (to MAIL, RCPT or DATA) can refuse it for good. What is about the session
 * (greeting, sign-in, 503 out of order, 530 sign in first) can be mended without a new mail, and after a
 * 503 or a lost connection in DATA it is not even known whether the mail was taken.
 */
function toMailError(error: unknown): InstanceType<typeof MailRefused | typeof MailUnavailable> {
  const { code, command, responseCode, response } = smtpFault(error);
  // The server's words may quote addresses or content; its numbers say enough.
  const reply = /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?/.exec(response ?? "")?.[0] ?? String(responseCode ?? "");
  if (responseCode === undefined) {
    if (code === "EENVELOPE") return new MailRefused("the mail server cannot be given these addresses");
    return new MailUnavailable(`no answer from the mail server (${code ?? "unknown error"})`);
  }
  const aboutMail = command === "MAIL FROM" || command === "RCPT TO" || command === "DATA";
  const message = `the mail server answered ${reply} to ${command ?? "us"}`;
  if (aboutMail && responseCode >= 500 && responseCode !== 503 && responseCode !== 530) return new MailRefused(message);
  return new MailUnavailable(message);
}

function smtpFault(error: unknown): { code?: string; command?: string; responseCode?: number; response?: string } {
  if (typeof error !== "object" || error === null) return {};
  const text = (name: string) => {
    const value: unknown = Reflect.get(error, name);
    return typeof value === "string" ? value : undefined;
  };
  const responseCode: unknown = Reflect.get(error, "responseCode");
  return {
    code: text("code"),
    command: text("command"),
    response: text("response"),
    responseCode: typeof responseCode === "number" ? responseCode : undefined,
  };
}
