// What approvals and delivery need: mail, its words, webhooks, and the key from which link secrets and the keys of
// webhooks are derived. For Ask, the API, recovery and the sweeper.
import { SESv2Client } from "@aws-sdk/client-sesv2";
import { createHmacSigner } from "../lib/adapters/hmac-signer.ts";
import { createHttpWebhooks } from "../lib/adapters/http-webhooks.ts";
import { createSesMailer } from "../lib/adapters/ses-mailer.ts";
import { MailRefused } from "../lib/core/errors.ts";
import { approvalMails } from "../lib/mail/approval-mails.ts";
import type { Mailer } from "../lib/ports/mailer.ts";
import { requiredVariable } from "./environment.ts";
import { readSecret } from "./read-secret.ts";
import type { Wiring } from "./wire.ts";

export type ApprovalWiring = Pick<Wiring, "mailer" | "approvalMails" | "signer" | "publicUrl" | "webhooks">;

/** Reads BATON_SIGNING_KEY or BATON_SIGNING_SECRET (its text is the key), BATON_PUBLIC_URL and BATON_MAIL_FROM. */
export async function wireApprovals(env: NodeJS.ProcessEnv = process.env): Promise<ApprovalWiring> {
  const key = env.BATON_SIGNING_KEY || (await readSecret(requiredVariable("BATON_SIGNING_SECRET"), env));
  const signer = createHmacSigner({ key: new TextEncoder().encode(key) });
  return {
    mailer: mailer(env.BATON_MAIL_FROM),
    approvalMails,
    signer,
    // A key of its own for each tenant: whoever can check a signature can also make one.
    webhooks: createHttpWebhooks({
      keyOf: (tenant) => Buffer.from(signer.hmac(`webhook:${tenant}`), "base64url"),
      now: Date.now,
    }),
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
