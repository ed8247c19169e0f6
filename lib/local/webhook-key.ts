// What webhooks are signed with: a key for each tenant, derived from the runtime's own; or the one that the operator
// gives (BATON_WEBHOOK_SECRET), for all tenants of this runtime.
import { InvalidDefinition } from "../core/errors.ts";
import type { Signer } from "../ports/signer.ts";

/** `given`: `whsec_<base64>` as in Standard Webhooks, at least 24 bytes. Throws `InvalidDefinition`. */
export function webhookKey(signer: Signer, given?: string): (tenant: string) => Uint8Array {
  if (!given) return (tenant) => Buffer.from(signer.hmac(`webhook:${tenant}`), "base64url");
  const key = Buffer.from(given.replace(/^whsec_/, ""), "base64");
  if (!given.startsWith("whsec_") || key.byteLength < 24) {
    throw new InvalidDefinition("BATON_WEBHOOK_SECRET: write whsec_ and the base64 of at least 24 random bytes");
  }
  return () => key;
}
