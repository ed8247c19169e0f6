// Blobs for fast tests: kept in this process, copied in and out.
import { createHash } from "node:crypto";
import { blobName, missingBlob } from "../ports/blob-rules.ts";
import type { Blobs } from "../ports/blobs.ts";

export function createMemoryBlobs(): Blobs {
  const blobs = new Map<string, Uint8Array>();
  return {
    async put(tenant, bytes) {
      const hash = createHash("sha256").update(bytes).digest("hex");
      blobs.set(blobName(tenant, hash), new Uint8Array(bytes));
      return hash;
    },
    // Nobody but `put` can write here, so there is no damage to look for.
    async get(tenant, sha256) {
      const name = blobName(tenant, sha256);
      const bytes = blobs.get(name);
      if (!bytes) throw missingBlob(name);
      return new Uint8Array(bytes);
    },
    async remove(tenant, sha256) {
      blobs.delete(blobName(tenant, sha256));
    },
  };
}
