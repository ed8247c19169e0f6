// Mailer over Amazon SES v2, with the same bytes as the others (Content.Raw). SES takes no idempotency key
// and sets its own Message-ID, so make the client with `maxAttempts: 1`: whether to try again is decided by
// the caller's journal, not by the SDK.
import { type SESv2Client, SendEmailCommand } from "@aws-sdk/client-sesv2";
import { MailRefused, MailUnavailable } from "../core/errors.ts";
import { mimeMessage } from "../mail/mime.ts";
import type { Mailer } from "../ports/mailer.ts";

export type SesMailerOptions = {
  client: SESv2Client;
  /** A verified identity: "Name <address>" or an address. */
  from: string;
  /** Where bounces are reported. Leave click tracking off in it. @default none */
  configurationSet?: string;
};

/** What SES says about this mail for good; everything else (quota, paused account, network) can be mended. */
const refusals = new Set(["MessageRejected", "BadRequestException"]);

export function createSesMailer(options: SesMailerOptions): Mailer {
  return {
    destination: "Amazon SES",
    async send(mail) {
      const { bytes, envelope } = await mimeMessage(mail, options.from);
      const command = new SendEmailCommand({
        FromEmailAddress: envelope.from,
        Destination: { ToAddresses: envelope.to },
        Content: { Raw: { Data: bytes } },
        ...(options.configurationSet === undefined ? {} : { ConfigurationSetName: options.configurationSet }),
      });
      try {
        await options.client.send(command);
      } catch (error) {
        // The name only: SES quotes addresses in its messages.
        const name = error instanceof Error ? error.name : "unknown error";
        if (refusals.has(name)) throw new MailRefused(`SES refused the mail (${name})`);
        throw new MailUnavailable(`SES did not take the mail (${name})`);
      }
    },
  };
}
