// Blobs in S3, `<prefix><tenant>/<two digits>/<sha256>`. The hash goes along as a checksum, so S3 refuses bytes
// that changed on the way; what is read is verified here.
import { createHash } from "node:crypto";
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { BatonError, StoreRejected, StoreThrottled, StoreUnavailable } from "../core/errors.ts";
import { blobName, damagedBlob, missingBlob } from "../ports/blob-rules.ts";
import type { Blobs } from "../ports/blobs.ts";

export type S3BlobsOptions = {
  client: S3Client;
  bucket: string;
  /** Before each key, e.g. "blobs/". @default "" */
  prefix?: string;
};

export function createS3Blobs({ client, bucket: Bucket, prefix = "" }: S3BlobsOptions): Blobs {
  return {
    async put(tenant, bytes) {
      const digest = createHash("sha256").update(bytes).digest();
      const hash = digest.toString("hex");
      const Key = prefix + blobName(tenant, hash);
      const ChecksumSHA256 = digest.toString("base64");
      await guard("PutObject", () => client.send(new PutObjectCommand({ Bucket, Key, Body: bytes, ChecksumSHA256 })));
      return hash;
    },

    async get(tenant, sha256) {
      const name = blobName(tenant, sha256);
      const bytes = await guard("GetObject", async () => {
        try {
          const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: prefix + name }));
          return (await Body?.transformToByteArray()) ?? new Uint8Array(0);
        } catch (error) {
          if (error instanceof Error && error.name === "NoSuchKey") throw missingBlob(name, error);
          throw error;
        }
      });
      const found = createHash("sha256").update(bytes).digest("hex");
      if (found !== sha256) throw damagedBlob(name, found);
      return new Uint8Array(bytes);
    },

    async remove(tenant, sha256) {
      const Key = prefix + blobName(tenant, sha256);
      await guard("DeleteObject", () => client.send(new DeleteObjectCommand({ Bucket, Key })));
    },
  };
}

type AwsError = Error & { code?: string; $metadata?: { httpStatusCode?: number } };

const throttling = new Set(["SlowDown", "ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded"]);
const network = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ERR_STREAM_PREMATURE_CLOSE",
]);

async function guard<T>(operation: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof BatonError) throw thrown;
    const cause = thrown as AwsError;
    const message = `S3 ${operation}: ${cause.name}: ${cause.message}`;
    const status = cause.$metadata?.httpStatusCode ?? 0;
    if (throttling.has(cause.name) || status === 429) throw new StoreThrottled(message, { cause });
    if (status >= 500 || cause.name === "TimeoutError" || cause.name === "AbortError" || isCut(cause)) {
      throw new StoreUnavailable(message, { cause });
    }
    throw new StoreRejected(message, { cause });
  }
}

/** The connection failed, before or within the answer. */
function isCut(error: AwsError): boolean {
  return network.has(error.code ?? "") || error.message === "aborted" || error.message === "terminated";
}
