// A mail of our own outbox, read back for people: header words and quoted-printable parts as lib/mail writes them.
// Not a general mail parser.

export type OutboxMail = { to: string; subject: string; text: string; links: string[] };

export function readOutboxMail(source: string): OutboxMail {
  const [head = "", ...rest] = source.split(/\r?\n\r?\n/);
  const headers = head.replace(/\r?\n[ \t]+/g, " ");
  const header = (name: string) => decodeWords(new RegExp(`^${name}: (.*)$`, "im").exec(headers)?.[1] ?? "");
  const text = plainPart(head, rest.join("\n\n"));
  const links = [...text.matchAll(/https?:\/\/[^\s<>"]+\/approve\/[^\s<>"]+/g)].map((match) => match[0]);
  return { to: header("To"), subject: header("Subject"), text, links: [...new Set(links)] };
}

function plainPart(head: string, body: string): string {
  const boundary = /boundary="?([^";\r\n]+)"?/i.exec(head)?.[1];
  if (!boundary) return decodeBody(head, body);
  for (const part of body.split(`--${boundary}`)) {
    const [partHead = "", ...partBody] = part.replace(/^\r?\n/, "").split(/\r?\n\r?\n/);
    if (/content-type: text\/plain/i.test(partHead)) return decodeBody(partHead, partBody.join("\n\n"));
  }
  return body;
}

function decodeBody(head: string, body: string): string {
  if (/content-transfer-encoding: base64/i.test(head)) return Buffer.from(body, "base64").toString("utf8");
  if (!/content-transfer-encoding: quoted-printable/i.test(head)) return body.trim();
  return quotedPrintable(body.replace(/=\r?\n/g, "")).trim();
}

/** RFC 2047 encoded words. */
function decodeWords(text: string): string {
  const joined = text.replace(/\?=\s+=\?/g, "?==?");
  return joined.replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
    kind.toLowerCase() === "b"
      ? Buffer.from(word, "base64").toString("utf8")
      : quotedPrintable(word.replaceAll("_", " ")),
  );
}

function quotedPrintable(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  // Characters that were not encoded are ASCII, so this is the byte string.
  return Buffer.from(bytes, "latin1").toString("utf8");
}
