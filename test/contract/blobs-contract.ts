// What every Blobs must do, run on each adapter. `create` gives an empty store; `damage` changes what is stored
// under a name, where somebody outside could do that.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { InvalidInput } from "../../lib/core/errors.ts";
import type { Blobs } from "../../lib/ports/blobs.ts";

const text = (of: string) => new Uint8Array(Buffer.from(of));
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

export function blobsContract(name: string, create: () => Promise<Blobs>): void {
  describe(`${name} blobs`, () => {
    let blobs: Blobs;
    beforeEach(async () => {
      blobs = await create();
    });

    it("answer the SHA-256 and give the bytes back", async () => {
      const bytes = text("a large payload, 漢字");
      expect(await blobs.put("acme", bytes)).toBe(sha256(bytes));
      expect(await blobs.get("acme", sha256(bytes))).toStrictEqual(bytes);
    });

    it("keep any bytes, none at all and a megabyte too (H01)", async () => {
      for (const bytes of [new Uint8Array(0), new Uint8Array(1_200_000).fill(7)]) {
        expect(await blobs.get("acme", await blobs.put("acme", bytes))).toStrictEqual(bytes);
      }
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
          expect(await blobs.get("acme", await blobs.put("acme", bytes))).toStrictEqual(bytes);
        }),
        { numRuns: 20 },
      );
    });

    it("keep a view of a larger buffer as what it shows", async () => {
      const view = new Uint8Array(new Uint8Array([1, 2, 3, 4, 5]).buffer, 1, 3);
      expect(await blobs.get("acme", await blobs.put("acme", view))).toStrictEqual(Uint8Array.of(2, 3, 4));
    });

    it("may be written twice, also at once", async () => {
      const bytes = text("twice");
      const hashes = await Promise.all(Array.from({ length: 10 }, () => blobs.put("acme", bytes)));
      expect(new Set(hashes)).toStrictEqual(new Set([sha256(bytes)]));
      expect(await blobs.put("acme", bytes)).toBe(sha256(bytes));
      expect(await blobs.get("acme", sha256(bytes))).toStrictEqual(bytes);
    });

    it("share nothing with what was given or answered", async () => {
      const bytes = text("abc");
      const hash = await blobs.put("acme", bytes);
      bytes[0] = 0;
      const read = await blobs.get("acme", hash);
      read[1] = 0;
      expect(await blobs.get("acme", hash)).toStrictEqual(text("abc"));
    });

    it("are an UnreadableRecord with their name when they are missing (H05)", async () => {
      const hash = sha256(text("never written"));
      const message = expect.stringContaining(`acme/${hash.slice(0, 2)}/${hash}`);
      await expect(blobs.get("acme", hash)).rejects.toMatchObject({ name: "UnreadableRecord", message });
    });

    it("are seen by their tenant only (G6)", async () => {
      const hash = await blobs.put("acme", text("secret"));
      await expect(blobs.get("evil", hash)).rejects.toMatchObject({ name: "UnreadableRecord" });
      await blobs.remove("evil", hash);
      expect(await blobs.get("acme", hash)).toStrictEqual(text("secret"));
    });

    it("can be removed, twice too", async () => {
      const hash = await blobs.put("acme", text("gone"));
      await blobs.remove("acme", hash);
      await blobs.remove("acme", hash);
      await expect(blobs.get("acme", hash)).rejects.toMatchObject({ name: "UnreadableRecord" });
    });

    it("refuse names that lead elsewhere (G6)", async () => {
      const hash = sha256(text("x"));
      for (const tenant of ["", "..", "a/b/c", "/acme", "acme/", "acme/..", "../acme", "a b", "a#b"]) {
        await expect(blobs.put(tenant, text("x"))).rejects.toThrow(InvalidInput);
        await expect(blobs.get(tenant, hash)).rejects.toThrow(InvalidInput);
        await expect(blobs.remove(tenant, hash)).rejects.toThrow(InvalidInput);
      }
      for (const wrong of ["", "abc", hash.toUpperCase(), `${hash}/..`, `../${hash.slice(3)}`]) {
        await expect(blobs.get("acme", wrong)).rejects.toThrow(InvalidInput);
        await expect(blobs.remove("acme", wrong)).rejects.toThrow(InvalidInput);
      }
    });
  });
}

/** For stores that somebody else can reach: `damage` changes the bytes that stand under a name. */
export function damagedBlobsContract(
  name: string,
  create: () => Promise<Blobs>,
  damage: (blobName: string, change: (bytes: Buffer) => Buffer) => Promise<void>,
): void {
  describe(`${name} blobs, damaged`, () => {
    const bytes = text("what was stored");
    const hash = sha256(bytes);
    const blobName = `acme/${hash.slice(0, 2)}/${hash}`;
    const changes: [string, (bytes: Buffer) => Buffer][] = [
      ["one flipped bit", (b) => Buffer.from(b.map((byte, i) => (i === 3 ? byte ^ 1 : byte)))],
      ["a cut end", (b) => b.subarray(0, -1)],
      ["an added byte", (b) => Buffer.concat([b, Buffer.of(0)])],
      ["nothing left", () => Buffer.alloc(0)],
    ];
    for (const [what, change] of changes) {
      it(`${what} is an UnreadableRecord naming the blob, and writing it again mends it (H05)`, async () => {
        const blobs = await create();
        await blobs.put("acme", bytes);
        await damage(blobName, change);
        const message = expect.stringContaining(blobName);
        await expect(blobs.get("acme", hash)).rejects.toMatchObject({ name: "UnreadableRecord", message });
        await blobs.put("acme", bytes);
        expect(await blobs.get("acme", hash)).toStrictEqual(bytes);
      });
    }
  });
}
