// Blobs are for payloads over 32 KB, which most steps never see, and the S3 client is large: a bundle of its own
// (lib/constructs/bundling.ts), loaded when first needed.
import type { Blobs } from "../lib/ports/blobs.ts";
import { knownError } from "./known-error.ts";
import { once } from "./once.ts";

export function lazyS3Blobs(bucket: string): Blobs {
  const blobs = once(async () => (await import("./s3-blobs.ts")).openS3Blobs(bucket));
  const ask = async <T>(question: (blobs: Blobs) => Promise<T>): Promise<T> => {
    try {
      return await question(await blobs());
    } catch (error) {
      throw knownError(error);
    }
  };
  return {
    put: (tenant, bytes) => ask((s3) => s3.put(tenant, bytes)),
    get: (tenant, sha256) => ask((s3) => s3.get(tenant, sha256)),
    remove: (tenant, sha256) => ask((s3) => s3.remove(tenant, sha256)),
  };
}
