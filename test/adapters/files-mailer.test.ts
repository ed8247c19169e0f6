import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFilesMailer, mailFileName } from "../../lib/adapters/files-mailer.ts";
import { mimeMessage } from "../../lib/mail/mime.ts";

const from = "approvals@bank.example";
const mail = {
  to: "ann@bank.example",
  subject: "Approval needed",
  text: "Hello\n",
  html: "<p>Hello</p>",
  messageId: "<../../ap1.request@baton.example>",
  date: Date.UTC(2026, 4, 5),
};

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "baton-mail-"));
});
afterEach(() => rm(root, { recursive: true }));

describe("createFilesMailer", () => {
  it("keeps a repeated send as the same file with the same bytes, and leaves no draft (H23)", async () => {
    const dir = join(root, "deep", "mail");
    const mailer = createFilesMailer({ dir, from });
    await Promise.all([mailer.send(mail), mailer.send(mail)]);
    await mailer.send({ ...mail, messageId: "<ap2.request@baton.example>" });
    const names = await readdir(dir);
    expect(names).toHaveLength(2);
    expect(names).toContain(mailFileName(mail.messageId));
    const kept = await readFile(join(dir, mailFileName(mail.messageId)));
    expect(kept.equals((await mimeMessage(mail, from)).bytes)).toBe(true);
    expect(mailer.destination).toBe(dir);
  });

  it("says MailUnavailable when the folder cannot be written", async () => {
    await writeFile(join(root, "mail"), "a file");
    const mailer = createFilesMailer({ dir: join(root, "mail"), from });
    await expect(mailer.send(mail)).rejects.toMatchObject({ name: "MailUnavailable" });
  });
});
