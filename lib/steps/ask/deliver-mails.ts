// Hands an approval's mails over. Each mail is journalled with its Message-ID and date before the first try, so
// a repeat is the same mail; a try is claimed by a conditional save, so two processes do not send at once. Mail
// that cannot be sent never fails the caller: the journal says "sending" and the sweeper tries again.
import {
  type JournalledPurpose,
  mailDueAt,
  markMail,
  type OpenMail,
  openMails,
  queueMails,
} from "../../core/approval/mail-journal.ts";
import type { Approval, Approver } from "../../core/approval.ts";
import { BatonError, toErrorRecord } from "../../core/errors.ts";
import type { StoredApproval } from "../../store/approvals.ts";
import { sha256 } from "../../store/encoding.ts";
import { appendEvent } from "../append-event.ts";
import type { Deps } from "../deps.ts";
import { linkSecret } from "./link-secret.ts";

export type MailDeps = Pick<
  Deps,
  "store" | "clock" | "ids" | "log" | "mailer" | "signer" | "publicUrl" | "approvalMails"
>;

export type DeliverOptions = {
  /** A change of the record that is saved together with the claim; must be repeatable on a newer record. */
  change?: (approval: Approval) => Approval;
  /** Set with the same save. */
  released?: boolean;
  /** True: nobody else can be sending (the process before is dead), so nothing is waited for. */
  force?: boolean;
};

/** Within one visit: a Lambda lives for a minute, and one silent server takes 20 s. */
const sendForMs = 25_000;

/** Saves the change, sends what is due, and answers the record afterwards. */
export async function deliverMails(
  deps: MailDeps,
  from: StoredApproval,
  options: DeliverOptions = {},
): Promise<StoredApproval> {
  let { stored, claimed } = await claim(deps, from, options);
  const until = deps.clock.now() + sendForMs;
  for (const mail of claimed) {
    if (deps.clock.now() > until) break;
    stored = await sendOne(deps, stored, mail);
  }
  return stored;
}

/** The record with everyone who is to be mailed in the journal. */
export function queued(deps: MailDeps, approval: Approval, purpose: JournalledPurpose): Approval {
  const messageId = (approver: Approver) => messageIdOf(deps, approval, approver, purpose);
  return queueMails(approval, purpose, { now: deps.clock.now(), messageId });
}

export function messageIdOf(
  deps: MailDeps,
  approval: Approval,
  approver: Approver,
  purpose: JournalledPurpose | "code",
  salt?: string,
): string {
  const domain = new URL(deps.publicUrl()).hostname.replace(/[[\]]/g, "");
  return deps.approvalMails.messageId({ approval, approver, purpose, domain, hash: sha256, ...(salt ? { salt } : {}) });
}

/** One approver's own address of the page. */
export function linkOf(deps: Pick<Deps, "publicUrl" | "signer">, approvalId: string, email: string): string {
  const base = deps.publicUrl().replace(/\/+$/, "");
  return `${base}/approve/${approvalId}/${linkSecret(deps.signer, approvalId, email)}`;
}

async function claim(
  deps: MailDeps,
  from: StoredApproval,
  options: DeliverOptions,
): Promise<{ stored: StoredApproval; claimed: OpenMail[] }> {
  let stored = from;
  for (;;) {
    let approval = options.change ? options.change(stored.approval) : stored.approval;
    const now = deps.clock.now();
    // What was never tried is due, whatever the clock says: it may have moved, or been set back, since the mail was dated.
    const isDue = ({ mark }: OpenMail) => mark.triedAt === undefined || mailDueAt(mark) <= now;
    const claimed = openMails(approval).filter((mail) => options.force || isDue(mail));
    for (const mail of claimed) {
      approval = markMail(approval, mail, { triedAt: now, tries: (mail.mark.tries ?? 0) + 1 });
    }
    const released = options.released ?? stored.released;
    if (approval === stored.approval && released === stored.released) return { stored, claimed };
    const saved = await deps.store.approvals.save(stored, { approval, released });
    if (saved !== "refused") return { stored: saved, claimed };
    const newer = await deps.store.approvals.get(stored.approval.tenant, stored.approval.id);
    if (!newer) return { stored, claimed: [] };
    stored = newer;
  }
}

async function sendOne(deps: MailDeps, from: StoredApproval, mail: OpenMail): Promise<StoredApproval> {
  const { approval } = from;
  const approver = approval.approvers.find((person) => person.email === mail.email);
  // Settled while another mail was sent: this one makes no sense any more.
  const open = openMails(approval).some(({ email, purpose }) => email === mail.email && purpose === mail.purpose);
  if (!approver || !open) return from;
  const { messageId, date } = mail.mark;
  try {
    const text = deps.approvalMails.write(
      mail.purpose === "decided"
        ? { approval, approver, purpose: "decided" }
        : { approval, approver, purpose: mail.purpose, link: linkOf(deps, approval.id, approver.email) },
    );
    await deps.mailer.send({ to: approver.email, ...text, messageId, date });
  } catch (error) {
    const refused = error instanceof BatonError && error.disposition === "Terminal";
    const { name, code } = toErrorRecord(error);
    deps.log.warn("an approval's mail was not sent", {
      sessionId: approval.sessionId,
      purpose: mail.purpose,
      name,
      code,
    });
    return refused ? mark(deps, from, mail, { status: "refused", error: code }) : from;
  }
  // First the fact, then the journal: a mail that a crash makes us send again is said twice, never left out.
  const { purpose } = mail;
  await appendEvent(deps, approval, () => ({
    type: "approval.mailed",
    approvalId: approval.id,
    to: approver.email,
    purpose,
    messageId,
  }));
  return mark(deps, from, mail, { status: "sent" });
}

async function mark(
  deps: MailDeps,
  from: StoredApproval,
  mail: OpenMail,
  change: { status: "sent" | "refused"; error?: string },
): Promise<StoredApproval> {
  let stored = from;
  for (;;) {
    const saved = await deps.store.approvals.save(stored, { approval: markMail(stored.approval, mail, change) });
    if (saved !== "refused") return saved;
    const newer = await deps.store.approvals.get(stored.approval.tenant, stored.approval.id);
    if (!newer) return stored;
    stored = newer;
  }
}
