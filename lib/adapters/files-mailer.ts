// Mailer into a folder of .eml files: the outbox of the embedded runtime. The name comes from the
// Message-ID, so a repeated send is the same file.
import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { MailUnavailable } from "../core/errors.ts";
import { mimeMessage } from "../mail/mime.ts";
import type { Mailer } from "../ports/mailer.ts";

export type FilesMailerOptions = {
  /** Made when it is missing. */
  dir: string;
  from: string;
};

export function createFilesMailer(options: FilesMailerOptions): Mailer {
  return {
    destination: options.dir,
    async send(mail) {
      const { bytes } = await mimeMessage(mail, options.from);
      try {
        await writeWhole(join(options.dir, mailFileName(mail.messageId)), bytes);
      } catch (error) {
        throw new MailUnavailable(`cannot write to ${options.dir}`, { cause: error });
      }
    },
  };

  /** Readers of the folder see a whole mail or none. */
  async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
    await mkdir(options.dir, { recursive: true });
    const draft = join(options.dir, `.${randomUUID()}.draft`);
    try {
      const file = await open(draft, "wx", 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, path);
    } finally {
      await rm(draft, { force: true });
    }
  }
}

/** Name of the file that a mail with this Message-ID is kept in. */
export function mailFileName(messageId: string): string {
  return `${createHash("sha256").update(messageId).digest("hex").slice(0, 32)}.eml`;
}
