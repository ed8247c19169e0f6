import { simpleParser } from "mailparser";
import { afterEach, describe, expect, it } from "vitest";
import { createSmtpMailer } from "../../lib/adapters/smtp-mailer.ts";
import { mimeMessage } from "../../lib/mail/mime.ts";
import type { Mail } from "../../lib/ports/mailer.ts";
import { type SmtpBehaviour, type SmtpStandIn, startSmtpServer } from "../support/smtp-server.ts";

const from = "Baton <approvals@bank.example>";
const mail: Mail = {
  to: "ann@bank.example",
  subject: "Freigabe nötig: 批准 שלום",
  text: "Grüße, 王小明\n.\n..a line of dots\nשלום עולם\n",
  html: "<p>Grüße, 王小明</p>",
  messageId: "<ap1.request.ann@baton.example>",
  date: Date.UTC(2026, 4, 5, 14, 30, 22),
};

let server: SmtpStandIn | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function serverThat(...behaviours: SmtpBehaviour[]) {
  server = await startSmtpServer({ behaviours });
  const mailer = createSmtpMailer({ url: `smtp://127.0.0.1:${server.port}`, from, timeoutMs: 250 });
  return { server, mailer };
}

describe("createSmtpMailer", () => {
  it("delivers text and HTML with every script intact, marked as automatic", async () => {
    const { server, mailer } = await serverThat("accept");
    await mailer.send(mail);
    expect(server.received).toHaveLength(1);
    const got = server.received[0];
    expect([got?.from, got?.to]).toEqual(["approvals@bank.example", ["ann@bank.example"]]);
    const parsed = await simpleParser(got?.bytes ?? "");
    expect({
      subject: parsed.subject,
      text: parsed.text,
      html: parsed.html,
      messageId: parsed.messageId,
      date: parsed.date?.getTime(),
      automatic: parsed.headers.get("auto-submitted"),
      suppress: parsed.headers.get("x-auto-response-suppress"),
    }).toEqual({
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
      messageId: mail.messageId,
      date: mail.date,
      automatic: "auto-generated",
      suppress: "All",
    });
  });

  const unknown: SmtpBehaviour[] = ["take-then-503", "take-then-drop", "drop", "take-then-hang", "greylist"];
  for (const behaviour of unknown) {
    it(`says MailUnavailable after "${behaviour}", and the next attempt has the same bytes (H23)`, async () => {
      const { server, mailer } = await serverThat(behaviour);
      await expect(mailer.send(mail)).rejects.toMatchObject({ name: "MailUnavailable", disposition: "Transient" });
      await mailer.send(mail);
      const { bytes } = await mimeMessage(mail, from);
      expect(server.received.at(-1)?.accepted).toBe(true);
      for (const attempt of server.received) expect(attempt.bytes.equals(bytes)).toBe(true);
      expect(server.received).toHaveLength(behaviour.startsWith("take") ? 2 : 1);
    });
  }

  it("takes a sign-in demand for the session's fault, not the mail's", async () => {
    const { mailer } = await serverThat("sign-in-first");
    await expect(mailer.send(mail)).rejects.toMatchObject({ name: "MailUnavailable" });
  });

  it("says MailUnavailable when nobody listens", async () => {
    const { server, mailer } = await serverThat();
    await server.close();
    await expect(mailer.send(mail)).rejects.toMatchObject({ name: "MailUnavailable" });
  });

  it("says MailRefused when the server will never take it, without quoting its words", async () => {
    const { mailer } = await serverThat("no-such-user", "spam");
    await expect(mailer.send(mail)).rejects.toMatchObject({
      name: "MailRefused",
      disposition: "Terminal",
      message: "the mail server answered 550 5.1.1 to RCPT TO",
    });
    await expect(mailer.send(mail)).rejects.toMatchObject({
      name: "MailRefused",
      message: "the mail server answered 554 5.7.1 to DATA",
    });
  });

  it("signs in with the URL's credentials", async () => {
    server = await startSmtpServer({ credentials: { user: "us er@x", pass: "p@ss/wörd" } });
    const login = `${encodeURIComponent("us er@x")}:${encodeURIComponent("p@ss/wörd")}`;
    await createSmtpMailer({ url: `smtp://${login}@127.0.0.1:${server.port}`, from }).send(mail);
    expect(server.received).toHaveLength(1);
  });

  it("shows no secret in destination, error or log (G20)", async () => {
    server = await startSmtpServer({ credentials: { user: "ann", pass: "right" } });
    const lines: unknown[] = [];
    const log = (message: string, fields?: unknown) => lines.push([message, fields]);
    const mailer = createSmtpMailer({
      url: `smtp://ann:hunter2@127.0.0.1:${server.port}`,
      from,
      log: { info: log, warn: log, error: log },
    });
    expect(mailer.destination).toBe(`smtp 127.0.0.1:${server.port}`);
    const error = await mailer.send(mail).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ name: "MailUnavailable" });
    const shown = `${JSON.stringify(lines)} ${String(error)} ${JSON.stringify(error)} ${mailer.destination}`;
    expect(shown).not.toMatch(/hunter2|ann@bank|批准/);
    expect(lines).toEqual([["mail not sent", { messageId: mail.messageId, code: "mail.unavailable" }]]);
  });

  for (const [url, why] of [
    ["hunter2", "not a URL"],
    ["http://ann:hunter2@x.example", "the scheme must be smtp or smtps"],
    ["smtp://ann:hunter2@x.example?pool=true", "unknown parameter pool"],
    ["smtp://ann:hunter2@x.example?tls=maybe", "tls must be required or never"],
    ["smtp://ann:hunter2%zz@x.example", "user and password must be percent-encoded"],
  ] as const) {
    it(`refuses a URL without showing it: ${why}`, () => {
      expect(() => createSmtpMailer({ url, from })).toThrow(why);
      expect(() => createSmtpMailer({ url, from })).not.toThrow("hunter2");
    });
  }

  it("does not send a password over a network without TLS", async () => {
    server = await startSmtpServer({ credentials: { user: "ann", pass: "right" } });
    // The stand-in offers no STARTTLS; `required` is what any host but loopback gets.
    const mailer = createSmtpMailer({ url: `smtp://ann:right@127.0.0.1:${server.port}?tls=required`, from });
    await expect(mailer.send(mail)).rejects.toMatchObject({ name: "MailUnavailable" });
    expect(server.received).toHaveLength(0);
  });
});
