// The code of a second mail (rule `confirm: "code"`): derived from the key, the person, the arguments and the
// time, so nothing is stored and it fits nothing else. Six digits are few, so tries are counted.
import type { Approval, Approver } from "../../core/approval.ts";
import { messageIdOf } from "../../steps/ask/deliver-mails.ts";
import type { Deps } from "../../steps/deps.ts";
import { sameText } from "../../store/same-text.ts";

/** A code holds for its window and the next: 10 to 20 minutes. */
const windowMs = 600_000;
const maxWrong = 5;
const maxMails = 3;

export type CodePlace = {
  approval: Approval;
  approver: Approver;
  /** Hash of the arguments that are decided on. */
  inputHash: string;
};

/** Mails the code; the same mail within a window. "enough": it was mailed several times in this window. */
export async function mailCode(deps: Deps, place: CodePlace): Promise<"mailed" | "enough"> {
  const { approval, approver } = place;
  const sent = await deps.store.attempts.add({
    tenant: approval.tenant,
    what: JSON.stringify(["code-mail", approval.id, approver.email, place.inputHash]),
    windowMs,
  });
  if (sent > maxMails) return "enough";
  const window = Math.floor(deps.clock.now() / windowMs);
  const code = codeOf(deps, place, window);
  const mail = { approval, approver, purpose: "code", code, codeExpiresAt: (window + 2) * windowMs } as const;
  const messageId = messageIdOf(deps, approval, approver, "code", `${place.inputHash}.${window}`);
  await deps.mailer.send({ to: approver.email, ...deps.approvalMails.write(mail), messageId, date: window * windowMs });
  return "mailed";
}

/** "blocked" after too many wrong ones, also for the right one, until the window is over. */
export async function checkCode(deps: Deps, place: CodePlace, code: string): Promise<"right" | "wrong" | "blocked"> {
  const { approval, approver } = place;
  const attempt = {
    tenant: approval.tenant,
    what: JSON.stringify(["code", approval.id, approver.email]),
    windowMs,
  };
  // Counted before it is looked at: parallel guesses cannot slip by.
  if ((await deps.store.attempts.add(attempt)) > maxWrong) return "blocked";
  const window = Math.floor(deps.clock.now() / windowMs);
  const current = sameText(code, codeOf(deps, place, window));
  const previous = sameText(code, codeOf(deps, place, window - 1));
  return current || previous ? "right" : "wrong";
}

function codeOf(deps: Pick<Deps, "signer">, { approval, approver, inputHash }: CodePlace, window: number): string {
  const bytes = Buffer.from(
    deps.signer.hmac(JSON.stringify(["code", approval.id, approver.email, inputHash, window])),
    "base64url",
  );
  return String(bytes.readUIntBE(0, 6) % 1_000_000).padStart(6, "0");
}
