import fc from "fast-check";
import { simpleParser } from "mailparser";
import { describe, expect, it } from "vitest";
import { mimeMessage } from "../../lib/mail/mime.ts";

const from = "Baton <approvals@bank.example>";
const mail = {
  to: "ann@bank.example",
  subject: "Approval needed",
  text: "Hello\n",
  html: "<p>Hello</p>\n",
  messageId: "<ap1@baton.example>",
  date: Date.UTC(2026, 4, 5),
};

describe("mimeMessage", () => {
  it("is 7-bit with CRLF line ends and depends on nothing but the mail (H23)", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), async (subject, text) => {
        const one = await mimeMessage({ ...mail, subject, text }, from);
        const two = await mimeMessage({ ...mail, subject, text }, from);
        expect(Buffer.from(one.bytes).equals(two.bytes)).toBe(true);
        const ascii = Buffer.from(one.bytes).toString("latin1");
        expect(ascii).toMatch(/^\p{ASCII}*$/u);
        expect(ascii).not.toMatch(/(?<!\r)\n|\r(?!\n)/);
        expect(ascii.endsWith("\r\n")).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it("lets no subject add a header or a recipient", async () => {
    const subject = "hi\r\nBcc: eve@evil.example\r\n\r\n<script>";
    const { bytes, envelope } = await mimeMessage({ ...mail, subject }, from);
    const parsed = await simpleParser(Buffer.from(bytes));
    expect(parsed.headers.has("bcc")).toBe(false);
    expect(parsed.text).toBe(mail.text);
    expect(envelope.to).toEqual(["ann@bank.example"]);
  });

  for (const to of ["a@x.example, b@x.example", "a@x.example\r\nBcc: b@x.example", "Ann <a@x.example>", "nobody", ""]) {
    it(`refuses what is not one address: ${JSON.stringify(to)}`, async () => {
      await expect(mimeMessage({ ...mail, to }, from)).rejects.toMatchObject({ name: "MailRefused" });
    });
  }

  it("refuses a Message-ID that is none", async () => {
    for (const messageId of ["ap1@x.example", "<a b@x>", "<a@x>\r\nX: y", "<a>"]) {
      await expect(mimeMessage({ ...mail, messageId }, from)).rejects.toMatchObject({ name: "InvalidInput" });
    }
  });
});
