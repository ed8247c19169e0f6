// The mail templates as the port that steps and use cases take.
import type { ApprovalMails } from "../ports/approval-mails.ts";
import { approvalMail, approvalMessageId } from "./templates.ts";

export const approvalMails: ApprovalMails = { write: approvalMail, messageId: approvalMessageId };
