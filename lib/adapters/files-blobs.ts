// Blobs as files, `<dir>/<tenant>/<two digits>/<sha256>`: the embedded default. A file appears under its name
// only when it is whole and on the disk, so power loss leaves no torn blob behind an item that points to it.
import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { StoreRejected, StoreUnavailable } from "../core/errors.ts";
import { blobName, damagedBlob, missingBlob } from "../ports/blob-rules.ts";
import type { Blobs } from "../ports/blobs.ts";

/** `dir` is made when missing. */
export function createFilesBlobs(options: { dir: string }): Blobs {
  const dir = resolve(options.dir);
  /** Folders known to be on the disk themselves. */
  const folders = new Set<string>();

  async function ensureFolder(folder: string): Promise<void> {
    if (folders.has(folder)) return;
    await mkdir(folder, { recursive: true });
    // An entry is on the disk once the folder that holds it is: up to the one that holds `dir`.
    for (let at = folder; at !== dirname(dir); at = dirname(at)) await sync(dirname(at));
    folders.add(folder);
  }

  return {
    async put(tenant, bytes) {
      const hash = sha256Of(bytes);
      const file = join(dir, blobName(tenant, hash));
      // A name of its own, so that two writers of the same content do not meet in one temporary file.
      const temporary = `${file}.${randomUUID()}.tmp`;
      return guard(async () => {
        await ensureFolder(dirname(file));
        try {
          await writeSynced(temporary, bytes);
          await rename(temporary, file);
        } catch (error) {
          await rm(temporary, { force: true });
          throw error;
        }
        await sync(dirname(file));
        return hash;
      });
    },

    async get(tenant, sha256) {
      const name = blobName(tenant, sha256);
      const bytes = await guard(() => readOrNull(join(dir, name)));
      if (!bytes) throw missingBlob(name);
      const found = sha256Of(bytes);
      if (found !== sha256) throw damagedBlob(name, found);
      return bytes;
    },

    async remove(tenant, sha256) {
      const file = join(dir, blobName(tenant, sha256));
      await guard(() => rm(file, { force: true }));
    },
  };
}

async function writeSynced(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, "wx");
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the entries of a folder durable (fsync(2), "does not necessarily ensure that the entry in the directory"). */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readOrNull(file: string): Promise<Uint8Array | null> {
  try {
    return new Uint8Array(await readFile(file));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function guard<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const message = `blobs: ${cause instanceof Error ? cause.message : String(cause)}`;
    if (["EIO", "ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "EBUSY", "EAGAIN"].includes(codeOf(cause))) {
      throw new StoreUnavailable(message, { cause });
    }
    throw new StoreRejected(message, { cause });
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
