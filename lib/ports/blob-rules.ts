// What a blob may be called and how its damage is told, the same in every adapter.
import { InvalidInput, UnreadableRecord } from "../core/errors.ts";
import { tenantPattern } from "../core/ids.ts";

const hashPattern = /^[0-9a-f]{64}$/;

/** `scope/ab/ab12…`: safe as a path and as an object key. A scope is a tenant, or `tenant/session`. Throws InvalidInput. */
export function blobName(scope: string, sha256: string): string {
  const errors = [
    ...(isScope(scope) ? [] : [{ path: "$.scope", message: "not a plain word" }]),
    ...(hashPattern.test(sha256) ? [] : [{ path: "$.sha256", message: "not a SHA-256 in lower-case hex" }]),
  ];
  if (errors.length > 0) throw new InvalidInput("a blob cannot have this name", { errors });
  return `${scope}/${sha256.slice(0, 2)}/${sha256}`;
}

function isScope(scope: string): boolean {
  const parts = scope.split("/");
  return parts.length <= 2 && parts.every((part) => tenantPattern.test(part));
}

/** The error of a blob that is gone. */
export function missingBlob(name: string, cause?: unknown): Error {
  return new UnreadableRecord(`blob ${name} is missing`, { cause });
}

/** The error of a blob whose bytes have another hash. */
export function damagedBlob(name: string, found: string): Error {
  return new UnreadableRecord(`blob ${name} is damaged: its bytes have the SHA-256 ${found}`);
}
