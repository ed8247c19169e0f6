// The part of the wiring that pulls in the S3 client; only ever imported lazily.
import { S3Client } from "@aws-sdk/client-s3";
import { createS3Blobs } from "../lib/adapters/s3-blobs.ts";
import type { Blobs } from "../lib/ports/blobs.ts";

export function openS3Blobs(bucket: string): Blobs {
  const client = new S3Client({ maxAttempts: 3, requestHandler: { connectionTimeout: 1_000, requestTimeout: 30_000 } });
  return createS3Blobs({ client, bucket });
}
