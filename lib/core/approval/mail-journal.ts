// The journal of an approval's mails, as it stands in the record: who gets one, which are still to be handed
// over, and when the next try is due. Pure; the steps send.
import type { Approval, Approver, MailMark } from "../approval.ts";
import { recipients } from "./due.ts";

/** Mails that are journalled; codes are not. */
export type JournalledPurpose = keyof NonNullable<Approver["mailed"]>;

export type OpenMail = { email: string; purpose: JournalledPurpose; mark: MailMark };

/** After a try whose fate is unknown, the next one waits this long, then twice as long, up to an hour. */
const firstRetryMs = 60_000;
const longestRetryMs = 3_600_000;

/**
 * The record with a mark for everyone who is to get a mail of this purpose and has none yet. A user id that is no mail
 * address gets none: that person decides signed in. The outcome goes to those only who were mailed before.
 */
export function queueMails(
  approval: Approval,
  purpose: JournalledPurpose,
  mark: { now: number; messageId: (approver: Approver) => string },
): Approval {
  const people = new Set(recipients(approval, purpose).map((person) => person.email));
  let changed = false;
  const approvers = approval.approvers.map((person) => {
    const mailed = person.mailed ?? {};
    const wanted = people.has(person.email) && !mailed[purpose] && isMailAddress(person.email);
    if (!wanted || (purpose === "decided" && Object.keys(mailed).length === 0)) return person;
    const fresh: MailMark = { messageId: mark.messageId(person), date: mark.now, status: "sending" };
    changed = true;
    return { ...person, mailed: { ...mailed, [purpose]: fresh } };
  });
  return changed ? { ...approval, approvers } : approval;
}

/** Mails that are queued, were not handed over for certain, and still make sense. */
export function openMails(approval: Approval): OpenMail[] {
  const pending = approval.status === "pending";
  return approval.approvers.flatMap(({ email, mailed = {} }) =>
    (Object.keys(mailed) as JournalledPurpose[]).flatMap((purpose) => {
      const mark = mailed[purpose];
      const open = mark?.status === "sending" && (purpose === "decided") !== pending;
      return open ? [{ email, purpose, mark }] : [];
    }),
  );
}

/** Epoch milliseconds from which on a mail may be tried. */
export function mailDueAt(mark: MailMark): number {
  if (mark.triedAt === undefined) return mark.date;
  return mark.triedAt + Math.min(firstRetryMs * 2 ** Math.max(0, (mark.tries ?? 1) - 1), longestRetryMs);
}

/** The record with one mark changed. */
export function markMail(
  approval: Approval,
  mail: { email: string; purpose: JournalledPurpose },
  change: Partial<MailMark>,
): Approval {
  return {
    ...approval,
    approvers: approval.approvers.map((person) => {
      const mark = person.email === mail.email ? person.mailed?.[mail.purpose] : undefined;
      return mark ? { ...person, mailed: { ...person.mailed, [mail.purpose]: { ...mark, ...change } } } : person;
    }),
  };
}

/** One plain address: what may stand in a header and an envelope. */
export function isMailAddress(text: string): boolean {
  return /^[^\s,;:<>()[\]\\"@]+@[^\s,;:<>()[\]\\"@]+$/.test(text);
}
