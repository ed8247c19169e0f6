// Signer from a key that the composition root brings (a file beside the dev secret, a secret of the cloud).
import { createHmac } from "node:crypto";
import { InvalidDefinition } from "../core/errors.ts";
import type { Signer } from "../ports/signer.ts";

const minKeyBytes = 32;

/** Throws `InvalidDefinition` for a key of less than 256 bits. */
export function createHmacSigner(options: { key: Uint8Array }): Signer {
  if (options.key.byteLength < minKeyBytes) {
    throw new InvalidDefinition(
      `the key for approval links has ${options.key.byteLength} bytes; at least ${minKeyBytes}`,
    );
  }
  return { hmac: (text) => createHmac("sha256", options.key).update(text).digest("base64url") };
}
