// The word that a form must send back: proof that this person's page, with exactly these arguments, was
// shown within the last hour or two. Stateless, so that it survives restarts and works on every instance.
import { timingSafeEqual } from "node:crypto";

export type PageNonceParts = {
  approvalId: string;
  /** Hash of the link secret of the person the page was shown to. */
  secretHash: string;
  /** Hash of the arguments on the page; on the confirming page, of the changed ones. */
  inputHash: string;
};

/** HMAC-SHA-256 of `text` under `key`, as text. */
export type Hmac = (key: string, text: string) => string;

const windowMs = 3_600_000;

/** The nonce of a page shown at `now` (epoch milliseconds). */
export function makePageNonce(parts: PageNonceParts, now: number, hmac: Hmac): string {
  return nonceOf(parts, Math.floor(now / windowMs), hmac);
}

/** True for a nonce made in this hour or the one before, for the same person, approval and arguments. */
export function verifyPageNonce(nonce: string, parts: PageNonceParts, now: number, hmac: Hmac): boolean {
  const window = Math.floor(now / windowMs);
  const current = sameText(nonce, nonceOf(parts, window, hmac));
  const previous = sameText(nonce, nonceOf(parts, window - 1, hmac));
  return current || previous;
}

function nonceOf(parts: PageNonceParts, window: number, hmac: Hmac): string {
  return hmac(parts.secretHash, JSON.stringify(["approval-page", parts.approvalId, parts.inputHash, window]));
}

function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
