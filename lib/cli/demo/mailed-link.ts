// What the compliance officer's mail client would do with the mails in the outbox: find the link in one.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Links to /approve/… in the mails of a folder, with the address each was mailed to. */
export function mailedLinks(folder: string): { to: string; link: string }[] {
  let files: string[];
  try {
    files = readdirSync(folder).filter((file) => file.endsWith(".eml"));
  } catch {
    return [];
  }
  return files.flatMap((file) => {
    const mail = readFileSync(join(folder, file), "utf8");
    const text = mail
      .replace(/=\r?\n/g, "")
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    const link = /https?:\/\/[^\s"<>]+\/approve\/[^\s"<>]+/.exec(text)?.[0];
    const to = /^To: (.+)$/m.exec(mail)?.[1]?.trim() ?? "";
    return link ? [{ to, link }] : [];
  });
}
