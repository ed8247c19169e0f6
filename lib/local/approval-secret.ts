// The key that approval links are derived from: made once per data folder, readable by its owner only. Losing it
// makes open links dead; the approvals can still be decided signed in.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export function readApprovalSecret(data: string): Uint8Array {
  mkdirSync(data, { recursive: true });
  const file = join(data, "approval-secret");
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  return Buffer.from(readFileSync(file, "utf8").trim(), "base64url");
}
