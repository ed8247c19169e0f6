// What approvals need: mail, its words, and the key from which link secrets are derived. For Ask and the API.
import { SESv2Client } from "@aws-sdk/client-sesv2";
import { createHmacSigner } from "../lib/adapters/hmac-signer.ts";
import { createSesMailer } from "../lib/adapters/ses-mailer.ts";
import { MailRefused } from "../lib/core/errors.ts";
import { approvalMails } from "../lib/mail/approval-mails.ts";
import type { Mailer } from "../lib/ports/mailer.ts";
import { requiredVariable } from "./environment.ts";
import { readSecret } from "./read-secret.ts";
import type { Wiring } from "./wire.ts";

export type ApprovalWiring = Pick<Wiring, "mailer" | "approvalMails" | "signer" | "publicUrl">;

/** Reads BATON_SIGNING_KEY or BATON_SIGNING_SECRET (its text is the key), BATON_PUBLIC_URL and BATON_MAIL_FROM. */
export async function wireApprovals(env: NodeJS.ProcessEnv = process.env): Promise<ApprovalWiring> {
  const key = env.BATON_SIGNING_KEY || (await readSecret(requiredVariable("BATON_SIGNING_SECRET"), env));
  return {
    mailer: mailer(env.BATON_MAIL_FROM),
    approvalMails,
    signer: createHmacSigner({ key: new TextEncoder().encode(key) }),
    publicUrl: () => requiredVariable("BATON_PUBLIC_URL"),
  };
}

function mailer(from: string | undefined): Mailer {
  // One attempt: the caller's journal decides whether to try again.
  if (from) return createSesMailer({ client: new SESv2Client({ maxAttempts: 1 }), from });
  return {
    destination: "nowhere: the Agent construct has no `mail`",
    send: () => Promise.reject(new MailRefused("no sender is set; give the Agent construct `mail`")),
  };
}
