// The words of the mails about an approval. Behind a port, so that steps know neither HTML nor MIME.
import type { Approval, Approver, MailPurpose } from "../core/approval.ts";

export type ApprovalMail = { approval: Approval; approver: Approver } & (
  | { purpose: "request" | "reminder" | "escalation" /** This person's own link. */; link: string }
  | { purpose: "decided" }
  /** No link here: whoever has only the code, or only the link, has nothing. */
  | { purpose: "code"; code: string /** Epoch milliseconds. */; codeExpiresAt: number }
);

export type MailText = { subject: string; text: string; html: string };

export interface ApprovalMails {
  /** Pure: the same record gives the same text. */
  write(mail: ApprovalMail): MailText;
  /** Stable Message-ID for one approval, person and purpose; `salt` sets repeated code mails apart. */
  messageId(mail: {
    approval: Pick<Approval, "id" | "tenant">;
    approver: Pick<Approver, "email">;
    purpose: MailPurpose;
    /** Right side of the Message-ID: a domain of ours. */
    domain: string;
    /** SHA-256 in hex. */
    hash: (text: string) => string;
    salt?: string;
  }): string;
}
