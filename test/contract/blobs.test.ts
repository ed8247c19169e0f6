import { mkdtempSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { createFilesBlobs } from "../../lib/adapters/files-blobs.ts";
import { createMemoryBlobs } from "../../lib/adapters/memory-blobs.ts";
import { createS3Blobs } from "../../lib/adapters/s3-blobs.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";
import { blobsContract, damagedBlobsContract } from "./blobs-contract.ts";

blobsContract("memory", async () => createMemoryBlobs());

const root = mkdtempSync(join(tmpdir(), "baton-blobs-"));
afterAll(() => rmSync(root, { recursive: true }));
let stores = 0;
const files = async () => createFilesBlobs({ dir: join(root, `${++stores}`) });
blobsContract("files", files);
damagedBlobsContract("files", files, async (name, change) => {
  const file = join(root, `${stores}`, name);
  await writeFile(file, change(await readFile(file)));
});

let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3Server();
});
afterAll(() => s3.close());
const inS3 = async () => createS3Blobs({ client: s3.client, bucket: `bucket-${++stores}`, prefix: "blobs/" });
blobsContract("s3", inS3);
damagedBlobsContract("s3", inS3, async (name, change) => {
  const path = `/bucket-${stores}/blobs/${name}`;
  s3.objects.set(path, change(s3.objects.get(path) ?? Buffer.alloc(0)));
});
