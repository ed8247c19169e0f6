// The key that signs dev tokens: made once per data folder, readable by its owner only.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Path of the key file; made when it is not there. */
export function devSecretFile(data: string): string {
  mkdirSync(data, { recursive: true });
  const file = join(data, "dev-secret");
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  return file;
}

export function readDevSecret(file: string): Uint8Array {
  return Buffer.from(readFileSync(file, "utf8").trim(), "base64url");
}
