// Large payloads by content. A blob is written before the item that points to it, under the SHA-256 of its
// bytes; writing it twice is harmless. Reading verifies the hash and throws `UnreadableRecord` on damage.
//
// What must hold for every adapter (test/contract/blobs-contract.ts checks it):
// - What `put` has acknowledged is durable and can be read at once, under its own scope only.
// - Any bytes come back equal, none at all too; what is given and what is answered share nothing with what is stored.
// - A scope or hash that cannot be one is InvalidInput; before anything is touched, as both become parts of a name.
// - StoreUnavailable, StoreThrottled: may be tried again. StoreRejected: no such bucket, no permission.

export interface Blobs {
  /** Stores `bytes` under a scope (a tenant, or `tenant/session`: whatever is erased together) and answers their SHA-256 in hex. Mends a damaged blob of the same content. */
  put(scope: string, bytes: Uint8Array): Promise<string>;
  /** Throws `UnreadableRecord`, naming the blob, when it is missing or its bytes do not have this hash. */
  get(scope: string, sha256: string): Promise<Uint8Array>;
  /** Removing what is not there is fine. */
  remove(scope: string, sha256: string): Promise<void>;
}
