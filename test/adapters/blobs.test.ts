// What the blobs contract cannot see: what goes over the wire, what stands in the folder, and failures.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFilesBlobs } from "../../lib/adapters/files-blobs.ts";
import { createS3Blobs } from "../../lib/adapters/s3-blobs.ts";
import type { Blobs } from "../../lib/ports/blobs.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";

const bytes = new Uint8Array(Buffer.from("abc"));
const hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

describe("blobs in S3", () => {
  let s3: S3Server;
  let blobs: Blobs;
  beforeAll(async () => {
    s3 = await startS3Server();
    blobs = createS3Blobs({ client: s3.client, bucket: "bucket", prefix: "p/" });
  });
  afterAll(() => s3.close());

  it("stand under prefix, tenant and hash, and go with a checksum that S3 verifies", async () => {
    expect(await blobs.put("acme", bytes)).toBe(hash);
    const sent = s3.requests.at(-1);
    expect([sent?.method, sent?.path]).toStrictEqual(["PUT", `/bucket/p/acme/ba/${hash}`]);
    expect(sent?.headers["x-amz-checksum-sha256"]).toBe(Buffer.from(hash, "hex").toString("base64"));
  });

  const faults: [Parameters<S3Server["fail"]>[0], string][] = [
    [{ status: 503, code: "SlowDown" }, "StoreThrottled"],
    [{ status: 500, code: "InternalError" }, "StoreUnavailable"],
    ["cut", "StoreUnavailable"],
    [{ status: 403, code: "AccessDenied" }, "StoreRejected"],
    [{ status: 404, code: "NoSuchBucket" }, "StoreRejected"],
  ];
  for (const [fault, name] of faults) {
    it(`${JSON.stringify(fault)} is ${name} for each operation`, async () => {
      await blobs.put("acme", bytes);
      for (const work of [
        () => blobs.put("acme", bytes),
        () => blobs.get("acme", hash),
        () => blobs.remove("acme", hash),
      ]) {
        s3.fail(fault);
        await expect(work()).rejects.toMatchObject({ name });
      }
      expect(await blobs.get("acme", hash)).toStrictEqual(bytes);
    });
  }

  it("a connection that is cut within the answer is StoreUnavailable, not damage", async () => {
    const large = new Uint8Array(2_000_000).fill(1);
    const largeHash = await blobs.put("acme", large);
    s3.fail("half");
    await expect(blobs.get("acme", largeHash)).rejects.toMatchObject({ name: "StoreUnavailable" });
    expect(await blobs.get("acme", largeHash)).toStrictEqual(large);
  });
});

describe("blobs in files", () => {
  const dir = mkdtempSync(join(tmpdir(), "baton-files-"));
  afterAll(() => rmSync(dir, { recursive: true }));

  it("stand under tenant and hash, with nothing temporary left", async () => {
    const blobs = createFilesBlobs({ dir: join(dir, "a") });
    await Promise.all([blobs.put("acme", bytes), blobs.put("acme", bytes), blobs.put("acme", bytes)]);
    expect(readdirSync(join(dir, "a"), { recursive: true }).sort()).toStrictEqual([
      "acme",
      "acme/ba",
      `acme/ba/${hash}`,
    ]);
  });

  it("a folder that cannot be made is StoreRejected", async () => {
    writeFileSync(join(dir, "file"), "");
    const blobs = createFilesBlobs({ dir: join(dir, "file") });
    await expect(blobs.put("acme", bytes)).rejects.toMatchObject({ name: "StoreRejected" });
  });
});
