// The secret in a mailed link: derived from the key of the deployment, so that the same mail can be made again
// after a crash; the record keeps only its hash.
import type { Approval } from "../../core/approval.ts";
import type { Signer } from "../../ports/signer.ts";
import { sha256 } from "../../store/encoding.ts";

/** 256 bits, base64url. */
export function linkSecret(signer: Signer, approvalId: string, email: string): string {
  return signer.hmac(JSON.stringify(["link", approvalId, email]));
}

/** What the record keeps of a secret. */
export function secretHash(secret: string): string {
  return sha256(secret);
}

/** The record with the hashes of its link secrets, made where the key is and not where tools run. */
export function sealed(signer: Signer, approval: Approval): Approval {
  if (approval.approvers.every((person) => person.secretHash !== "")) return approval;
  return {
    ...approval,
    approvers: approval.approvers.map((person) => ({
      ...person,
      secretHash: person.secretHash || secretHash(linkSecret(signer, approval.id, person.email)),
    })),
  };
}
