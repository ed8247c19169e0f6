// Mail out. The caller freezes the bytes and keeps the journal; an implementation only hands them over.

export type Mail = {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Stable Message-ID (RFC 5322), so that a repeated send is the same mail. */
  messageId: string;
  /** Epoch milliseconds for the Date header: frozen with the mail. */
  date: number;
};

export interface Mailer {
  /** Throws MailUnavailable when it is not known or known not to have been accepted; Terminal when refused for good. */
  send(mail: Mail): Promise<void>;
  /** Where mail goes, for people: "smtp mail.example:587", ".baton/mail". No secrets. */
  readonly destination: string;
}
