// Blobs are for payloads over 32 KB, which most steps never see, and the S3 client is 140 KB: a chunk of its own,
// loaded when first needed.
import type { Blobs } from "../lib/ports/blobs.ts";

export function lazyS3Blobs(bucket: string): Blobs {
  let loading: Promise<Blobs> | undefined;
  const blobs = () => {
    loading ??= load(bucket);
    return loading;
  };
  return {
    put: async (tenant, bytes) => (await blobs()).put(tenant, bytes),
    get: async (tenant, sha256) => (await blobs()).get(tenant, sha256),
    remove: async (tenant, sha256) => (await blobs()).remove(tenant, sha256),
  };
}

async function load(bucket: string): Promise<Blobs> {
  const { openS3Blobs } = await import("./s3-blobs.ts");
  return openS3Blobs(bucket);
}
