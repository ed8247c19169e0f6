// Large payloads by content. A blob is written before the item that points to it, under the SHA-256 of its
// bytes; writing it twice is harmless. Reading verifies the hash and throws `UnreadableRecord` on damage.

export interface Blobs {
  /** Stores `bytes` for a tenant and answers their SHA-256 in hex. */
  put(tenant: string, bytes: Uint8Array): Promise<string>;
  /** Throws `UnreadableRecord` when it is missing or its bytes do not have this hash. */
  get(tenant: string, sha256: string): Promise<Uint8Array>;
  /** Removing what is not there is fine. */
  remove(tenant: string, sha256: string): Promise<void>;
}
